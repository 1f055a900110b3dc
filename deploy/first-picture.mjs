/**
 * Times the first use by a new user: clones this checkout into an empty folder, runs `npm start` there with an empty
 * npm cache, opens the page in a headless browser, drops the two files of an example pair, and waits for the first
 * picture of the answer. Prints the seconds of each part, and exits with 1 if the whole took longer than two minutes.
 *
 *     node deploy/first-picture.mjs [OUT.png]
 *
 * Needs git, npm with its network, Chromium (deploy/install-browser.sh), and the packages of this checkout for the driver.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PAIR = ['start.obj', 'target.obj', 'options.json'];
/** Limit of the whole in seconds, and of one part in milliseconds. */
const BAR_SECONDS = 120;
const PATIENCE_MS = 900_000;
/** The answer counts as shown when it covers at least this share of the canvas. */
const LEAST_DRAWN = 0.02;

const print = (text) => process.stdout.write(`${text}\n`);
let last = performance.now();
const began = last;
const parts = {};
const lap = (what) => {
  const now = performance.now();
  parts[what] = (parts[what] ?? 0) + (now - last) / 1000;
  last = now;
};

/** Starts the service, and times its preparation. Returns the address that it prints. */
const startService = async (service) => {
  const lines = createInterface({ input: service.stdout });
  createInterface({ input: service.stderr }).on('line', (line) => {
    if (!line.startsWith('prepare: ')) return;
    // The first words of each line say what begins or has ended.
    if (/Installing/.test(line)) lap('npm start, until it installs');
    else if (/Generated/.test(line)) lap('packages from the network');
    else lap('building');
  });
  for await (const line of lines) {
    const [, address] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error('npm start ended before the service had an address.');
};

/** Processor time that the ended children of a process have taken, seconds; undefined if not reported. */
const processorSeconds = (pid) => {
  try {
    // The fields after the name of the program, which may contain blanks; ticks are hundredths of a second.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return undefined;
  }
};

const findBrowser = () =>
  ['chromium', 'chromium-browser', 'google-chrome']
    .map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim())
    .find((path) => path);

const folder = mkdtempSync(join(tmpdir(), 'interstice-stranger-'));
const clone = join(folder, 'interstice');
let service;
let browser;
let isInTime = false;
try {
  const cloned = spawnSync('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, clone], { encoding: 'utf8' });
  if (cloned.status !== 0) throw new Error(`git clone failed: ${cloned.stderr}`);
  lap('clone');
  const settings = { INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' };
  service = spawn('npm', ['start'], {
    cwd: clone,
    env: { ...process.env, ...settings, npm_config_cache: join(folder, 'npm-cache'), CI: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // This way all of its processes can be ended at once.
    detached: true,
  });
  const address = await startService(service);
  lap('start of the service');
  const prepared = processorSeconds(service.pid);
  browser = await chromium.launch({
    executablePath: findBrowser(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(address);
  await page.waitForSelector('#examples button');
  lap('browser and page');
  const pair = join(clone, 'examples', 'pairs', 'spike');
  const files = PAIR.map((name) => ({ name, text: readFileSync(join(pair, name), 'utf8') }));
  const dropped = await page.evaluateHandle(`(() => {
    const dropped = new DataTransfer();
    for (const { name, text } of ${JSON.stringify(files)}) dropped.items.add(new File([text], name));
    return dropped;
  })()`);
  await page.dispatchEvent('#stage', 'drop', { dataTransfer: dropped });
  await page.getByRole('button', { name: 'Resolve', exact: true }).click();
  await page.waitForSelector('#saving:not([hidden])');
  const drawn = await page.evaluate(`(async () => {
    const image = new Image();
    image.src = interstice.explorer.stage.viewer.picture();
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let drawn = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) drawn += 1;
    return (4 * drawn) / data.length;
  })()`);
  if (drawn < LEAST_DRAWN) throw new Error(`Nothing is seen of the answer: ${drawn} of the canvas is drawn.`);
  lap('files dropped, answer on the screen');
  if (process.argv[2]) await page.screenshot({ path: process.argv[2] });
  const total = (last - began) / 1000;
  for (const [what, seconds] of Object.entries(parts)) print(`${seconds.toFixed(1).padStart(7)} s  ${what}`);
  const network = parts['packages from the network'] ?? 0;
  print(`${total.toFixed(1).padStart(7)} s  all together; ${(total - network).toFixed(1)} s without the packages`);
  if (prepared !== undefined)
    print(
      `${prepared.toFixed(1).padStart(7)} s  of processor time to install and build; other work on the machine is not in it`,
    );
  isInTime = total <= BAR_SECONDS;
  print(isInTime ? 'The first picture came within two minutes.' : 'The first picture took longer than two minutes.');
} finally {
  await browser?.close();
  if (service?.exitCode === null) {
    const ended = once(service, 'exit');
    process.kill(-service.pid, 'SIGTERM');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isInTime ? 0 : 1;
