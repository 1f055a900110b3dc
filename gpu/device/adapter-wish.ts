import { IntersticeError } from '../../src/contract/errors.js';
import type { Host } from './vulkan-host.js';

/** The requested adapter: words of its name, and the address of its card. */
export interface AdapterWish {
  /** lower case; the name contains all of them, in any order */
  readonly words: readonly string[];
  /** of the card on the PCI bus, as Linux writes it: 0000:41:00.0 */
  readonly address?: string;
}

/** With a domain of four digits, of eight digits as nvidia-smi prints it, or without a domain. */
const ADDRESS = /^pci:(?:([0-9a-f]{4}|[0-9a-f]{8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/i;

/** @param text INTERSTICE_ADAPTER. @throws INVALID_PARAMETER for an invalid address */
export function parseAdapterWish(text: string | undefined): AdapterWish {
  const words = (text ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const addresses = words.filter((word) => word.startsWith('pci:'));
  if (addresses.length === 0) return { words };
  const match = ADDRESS.exec(addresses[0]!);
  if (!match || addresses.length > 1) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The adapter "${text}" names no card: an address is written as pci:0000:41:00.0, once.`,
    );
  }
  const domain = (match[1] ?? '0000').slice(-4);
  return { words: words.filter((word) => !word.startsWith('pci:')), address: `${domain}:${match[2]}` };
}

/** Whether the name contains all words. */
export const isWanted = (name: string, { words }: AdapterWish): boolean =>
  words.every((word) => name.toLowerCase().includes(word));

/** Prefix of the PCI classes of display controllers. */
const DISPLAY_CLASS = '0x03';

/** The manifest of Mesa's layer, which hides the other cards of any vendor. */
const LAYER = 'vulkan/implicit_layer.d/VkLayer_MESA_device_select.json';

/**
 * Returns the variables with which Vulkan shows one card only. WebGPU offers no way to distinguish equal cards. Mesa's
 * layer, which comes with mesa-vulkan-drivers and works with every driver, selects one by its address.
 *
 * @throws INVALID_PARAMETER if there is no such card, or no layer that could select it
 */
export function cardVariables({ address }: AdapterWish, host: Host): Record<string, string> {
  if (address === undefined) return {};
  const device = `/sys/bus/pci/devices/${address}`;
  const cards = host
    .list('/sys/bus/pci/devices')
    .filter((name) => host.read(`/sys/bus/pci/devices/${name}/class`)?.startsWith(DISPLAY_CLASS));
  if (!host.read(`${device}/class`)?.startsWith(DISPLAY_CLASS)) {
    const known = cards.length > 0 ? `cards are at ${cards.join(', ')}` : 'this machine shows no graphics card';
    throw new IntersticeError('INVALID_PARAMETER', `No graphics card is at the PCI address ${address}: ${known}.`);
  }
  if (!['/usr/share', '/usr/local/share', '/etc'].some((folder) => host.exists(`${folder}/${LAYER}`))) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      'An adapter is selected by its PCI address, for which Vulkan needs the layer VK_LAYER_MESA_device_select.',
      { hint: 'Install mesa-vulkan-drivers, or pass only one card to the process (NVIDIA_VISIBLE_DEVICES).' },
    );
  }
  return {
    DRI_PRIME: `pci-${address.replace(/[:.]/g, '_')}`,
    // Otherwise the list also contains the other cards.
    MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE: '1',
  };
}
