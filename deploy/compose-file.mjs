/** Reads docker-compose.yml as services, and converts a service to arguments of `podman run`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './program.mjs';

const refuse = (what) => {
  throw new Error(`docker-compose.yml: ${what}: deploy/compose-file.mjs does not know it.`);
};
const assertKeys = (what, value, ...known) => {
  for (const key of Object.keys(value)) if (!known.includes(key)) refuse(`${what}.${key}`);
};

const each = (flag) => (values) => values.flatMap((value) => [flag, value]);
const where = (flag) => (isSet) => (isSet ? [flag] : []);

/** The flags for the keys of a service. */
const FLAGS = {
  init: where('--init'),
  read_only: where('--read-only'),
  tmpfs: each('--tmpfs'),
  cap_drop: each('--cap-drop'),
  security_opt: each('--security-opt'),
  stop_grace_period: (time) =>
    /^\d+s$/.test(time) ? ['--stop-timeout', time.slice(0, -1)] : refuse(`stop_grace_period ${time}`),
  restart: (policy) => ['--restart', policy],
  networks: (networks) => {
    assertKeys('networks', networks, 'default');
    assertKeys('networks.default', networks.default, 'aliases');
    return each('--network-alias')(networks.default.aliases);
  },
  environment: (values) =>
    each('--env')(
      Object.entries(values).map(([name, value]) =>
        value === null ? refuse(`environment.${name} without a value`) : `${name}=${value}`,
      ),
    ),
  volumes: (mounts) => each('--volume')(mounts.map((mount) => mount.replace(/^\.\//, `${root}/`))),
  ports: each('--publish'),
  logging: (logging) => {
    assertKeys('logging', logging, 'driver', 'options');
    assertKeys('logging.options', logging.options, 'max-size', 'max-file');
    // podman keeps one file.
    return ['--log-driver', logging.driver, '--log-opt', `max-size=${logging.options['max-size']}`];
  },
  healthcheck: (check) => {
    assertKeys('healthcheck', check, 'test', 'interval', 'timeout', 'retries');
    const [kind, ...words] = check.test;
    if (kind !== 'CMD') refuse(`a healthcheck of the kind ${kind}`);
    return [
      ...['--health-cmd', JSON.stringify(words), '--health-interval', check.interval],
      ...['--health-timeout', check.timeout, '--health-retries', String(check.retries)],
    ];
  },
};
/** Keys that the program that starts the services handles itself. */
const OTHERS = ['build', 'image', 'command', 'depends_on'];

/** @param settings values of environment variables of the file, by name; others have the defaults of the file */
export function readCompose(settings) {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const settled = text.replace(/\$\{(\w+):-([^}]*)\}/g, (_, name, otherwise) => settings[name] || otherwise);
  return parse(settled, { merge: true });
}

/** @throws Error for a key or a value without a podman flag here, so that nothing in the file is ignored silently */
export function engineArguments({ image, command = [], ...service }) {
  const flags = Object.entries(service).flatMap(([key, value]) => {
    if (OTHERS.includes(key)) return [];
    return key in FLAGS ? FLAGS[key](value) : refuse(`the key ${key}`);
  });
  return [...flags, image, ...command];
}

/** @returns what a service waits for: [service, condition] */
export const waitsOf = ({ depends_on: waits = [] }) =>
  Array.isArray(waits)
    ? waits.map((name) => [name, 'service_started'])
    : Object.entries(waits).map(([name, { condition }]) => [name, condition]);
