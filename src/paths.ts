import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json, found from this file upwards: the same for a checkout and an installed package. */
export const projectRoot: string = (() => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('package.json not found above the installed files');
    folder = parent;
  }
  return folder;
})();

export const packageVersion: string = (
  JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }
).version;

/** Version of the algorithm: equal bytes are promised within one. Raise it whenever an answer may change by a bit. */
export const algorithmVersion = '34';
