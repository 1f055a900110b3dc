import { prepareVulkan } from '../gpu/device/vulkan-host.js';

/**
 * Prepares Vulkan as the service does, and returns the options with which every benchmark opens a device: the adapter of the
 * service's settings, so that both use the same one on a machine with several, and no checks of the binding, as in production.
 *
 * @throws INVALID_PARAMETER for a card or a folder that the settings name and that is unavailable
 */
export function deviceOptions(): {
  readonly name: string | undefined;
  readonly allowSoftware: true;
  readonly skipValidation: true;
} {
  const { INTERSTICE_ADAPTER: adapter, INTERSTICE_SHADER_CACHE: shaderCache } = process.env;
  prepareVulkan({ adapter, shaderCache });
  return { name: adapter, allowSoftware: true, skipValidation: true };
}
