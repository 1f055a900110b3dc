import { IntersticeError } from '../contract/errors.js';
import { quote } from '../contract/quote.js';

/** What a server grants to web pages, and the names under which it may be called. */
export interface BrowserRules {
  /**
   * Host names besides the loopback names, lower case, without a port; `*` = every name. undefined = names are not
   * checked, because a key protects the service.
   */
  readonly hosts: readonly string[] | undefined;
  /** Whether every address literal is accepted as a name: for a server that other machines may reach. */
  readonly acceptsAddresses: boolean;
  /** Origins whose pages may read the answers, as browsers write them; `*` = every origin. Empty = no CORS. */
  readonly origins: readonly string[];
  /** Whether requests of other pages are refused. Otherwise they are served, and the browser withholds the answer. */
  readonly refusesOtherPages: boolean;
}

/**
 * Keeps foreign web pages away from a service that a browser on the same machine or network can reach.
 *
 * A page can make its browser send requests to any address, in two ways. Either the request goes to another origin than
 * that of the page: then browsers name the page in `origin` with every request except a plain GET, and show the answer
 * to the page only if CORS allows it. Or the page's own name is made to resolve to the address of the service (DNS
 * rebinding): then the request is of the same origin, and its host is the name of the page. So a check of the host
 * against the names that the operator has set, and of the origin against those that the operator has allowed and the
 * service's own, blocks both ways. An address literal is never resolved, so no page can be rebound to it.
 */
export class BrowserGuard {
  readonly #names: ReadonlySet<string> | undefined;
  readonly #origins: ReadonlySet<string>;

  constructor(private readonly rules: BrowserRules) {
    this.#names = rules.hosts && new Set(rules.hosts);
    this.#origins = new Set(rules.origins);
  }

  /** Whether any page is allowed, i.e. CORS is on. */
  get allowsPages(): boolean {
    return this.#origins.size > 0;
  }

  /** Value of `access-control-allow-origin` for a page; undefined if it is not allowed. */
  grantTo(origin: string): string | undefined {
    if (this.#origins.has('*')) return '*';
    return this.#origins.has(origin) ? origin : undefined;
  }

  /**
   * @param host the header `host`, or `:authority`; undefined for a client of HTTP/1.0, which is not a browser
   * @param origin the header `origin`; undefined if there is none
   * @throws PERMISSION_DENIED
   */
  check(host: string | undefined, origin: string | undefined): void {
    if (host !== undefined && !this.#isKnown(host)) {
      throw new IntersticeError('PERMISSION_DENIED', `This service does not answer to the host ${quote(host)}.`, {
        hint: 'Call it by a loopback name (localhost, 127.0.0.1, [::1]), or add the name to INTERSTICE_ALLOWED_HOSTS.',
      });
    }
    if (!this.rules.refusesOtherPages || origin === undefined || isOwn(origin, host)) return;
    if (this.grantTo(origin) !== undefined) return;
    throw new IntersticeError('PERMISSION_DENIED', `Pages of ${quote(origin)} may not use this service.`, {
      hint: 'Add the origin to INTERSTICE_CORS_ORIGINS to allow it.',
    });
  }

  #isKnown(host: string): boolean {
    if (!this.#names || this.#names.has('*')) return true;
    const name = nameOf(host);
    if (name === undefined) return false;
    return isLoopbackName(name) || this.#names.has(name) || (this.rules.acceptsAddresses && isAddress(name));
  }
}

/** The name or address in `name:port`, lower case; undefined if it is neither. */
function nameOf(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:[\]@/\s]+)(:\d*)?$/.exec(host.toLowerCase())?.[1];
}

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

const isLoopbackName = (name: string): boolean =>
  name === 'localhost' || name === '[::1]' || (IPV4.test(name) && name.startsWith('127.'));

const isAddress = (name: string): boolean => IPV4.test(name) || name.startsWith('[');

/** Whether the page comes from this service. A proxy may have ended TLS, so both schemes count. */
function isOwn(origin: string, host: string | undefined): boolean {
  const scheme = /^https?:\/\//.exec(origin)?.[0];
  if (scheme === undefined || host === undefined) return false;
  const own = `${scheme}${host}`;
  // The parser removes the port that the scheme implies.
  return URL.canParse(own) && URL.canParse(origin) && new URL(own).origin === new URL(origin).origin;
}
