import { type Config, isLoopback } from '../config/config.js';
import { BrowserGuard } from '../transport/browser-guard.js';

/** The guard of HTTP and gRPC. Keys protect a service from foreign pages: a page has none, and browsers add none. */
export function serviceGuard({ host, apiKeys, allowedHosts, corsOrigins }: Config): BrowserGuard {
  const isKeyless = apiKeys === undefined;
  return new BrowserGuard({
    hosts: allowedHosts === undefined && !isKeyless ? undefined : [host.toLowerCase(), ...(allowedHosts ?? [])],
    acceptsAddresses: !isLoopback(host),
    origins: corsOrigins,
    refusesOtherPages: isKeyless,
  });
}

/** The guard of the admin port, which has no keys and serves no pages. */
export function adminGuard({ adminHost, allowedHosts = [] }: Config): BrowserGuard {
  return new BrowserGuard({
    hosts: [adminHost.toLowerCase(), ...allowedHosts],
    acceptsAddresses: !isLoopback(adminHost),
    origins: [],
    refusesOtherPages: true,
  });
}
