import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Test } from 'tap';

const PROGRAM = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/** For tap's `skip`: why there is no browser here. */
export const skipWithoutChromium: string | false =
  PROGRAM !== undefined || process.env.INTERSTICE_REQUIRE_BROWSER === '1'
    ? false
    : 'no Chromium; deploy/install-browser.sh installs it';

const FLAGS = [
  '--headless=new',
  // The tests may run as root; they load pages of their own only.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  '--no-default-browser-check',
  '--remote-debugging-pipe',
];

/** A message of the DevTools protocol. */
interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A tab of a browser without a window, driven by the DevTools protocol. */
export class Page {
  #lastId = 0;
  #received = '';
  readonly #waiting = new Map<number, (message: Message) => void>();
  #sessionId: string | undefined;

  private constructor(
    private readonly input: Writable,
    output: Readable,
  ) {
    output.setEncoding('utf8');
    output.on('data', (text: string) => this.#receive(text));
  }

  /** @param hosts names that resolve to 127.0.0.1, as an attacker's name server would say */
  static async open(t: Test, hosts: readonly string[] = []): Promise<Page> {
    if (PROGRAM === undefined) throw new Error('INTERSTICE_REQUIRE_BROWSER=1, and there is no Chromium.');
    const folder = mkdtempSync(join(tmpdir(), 'interstice-chromium-'));
    const rules = hosts.map((host) => `MAP ${host} 127.0.0.1`).join(', ');
    const flags = [...FLAGS, `--user-data-dir=${folder}`, ...(rules ? [`--host-resolver-rules=${rules}`] : [])];
    const browser = spawn(PROGRAM, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    const page = new Page(browser.stdio[3] as Writable, browser.stdio[4] as Readable);
    t.teardown(() => page.#close(browser, folder));
    const { targetId } = await page.#call<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await page.#call<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
    page.#sessionId = sessionId;
    await page.#call('Page.enable', {});
    return page;
  }

  /** Loads an address. The page may still be running its scripts, see {@link until}. @returns why it failed, if it did */
  async load(url: string): Promise<string | undefined> {
    const { errorText } = await this.#call<{ errorText?: string }>('Page.navigate', { url });
    if (errorText === undefined) await this.until('document.readyState === "complete"');
    return errorText;
  }

  /** The value of an expression in the page; a promise is awaited. @throws what the expression throws, as text */
  async evaluate<T>(expression: string): Promise<T> {
    const options = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
    const { result, exceptionDetails } = await this.#call<{
      result: { value: T };
      exceptionDetails?: { text: string; exception?: { description?: string } };
    }>('Runtime.evaluate', options);
    if (!exceptionDetails) return result.value;
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }

  /** Waits until an expression is true in the page, and looks again after every change of the document. */
  async until(expression: string): Promise<void> {
    await this.evaluate(`new Promise((resolve) => {
      const look = () => ((${expression}) ? resolve() : requestAnimationFrame(look));
      look();
    })`);
  }

  /** Ends the browser with its children, which write to the folder until then. */
  async #close(browser: ChildProcess, folder: string): Promise<void> {
    if (browser.exitCode === null && browser.signalCode === null) {
      const ended = once(browser, 'exit');
      this.#sessionId = undefined;
      void this.#call('Browser.close', {});
      await ended;
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 });
  }

  #call<T>(method: string, params: object): Promise<T> {
    const id = ++this.#lastId;
    const message = { id, method, params, ...(this.#sessionId === undefined ? {} : { sessionId: this.#sessionId }) };
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result as T);
      });
      this.input.write(`${JSON.stringify(message)}\0`);
    });
  }

  /** Messages end with a zero byte. Events have no id; nothing here needs them. */
  #receive(text: string): void {
    const parts = (this.#received + text).split('\0');
    this.#received = parts.pop() ?? '';
    for (const part of parts) {
      const message = JSON.parse(part) as Message;
      if (message.id === undefined) continue;
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    }
  }
}
