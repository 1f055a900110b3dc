import type { Explorer } from './explorer.js';
import { readMeshBlob, readOptionsText } from './files/open-files.js';
import type { Runner } from './runner.js';
import type { Service } from './service/service.js';
import { byId, make } from './ui/dom.js';
import type { OpenDialog } from './ui/open-dialog.js';

/** Titles of the examples, the clearest first; others have the name of their folder, and come last. */
const TITLES: Readonly<Record<string, string>> = {
  spike: 'Cloth over a spike',
  sleeve: 'Arm in a sleeve',
  layers: 'Swapped layers',
  hair: 'Hair',
  sand: 'Sand',
  solid: 'Soft solid',
};

/** Examples that one sees into only from high above: the height of the eye relative to its distance in front of them. */
const HEIGHTS: Readonly<Record<string, number>> = { sand: 1.3 };

/** Offers the example pairs of the service: one click resolves and shows one. */
export async function offerExamples(
  service: Service,
  runner: Runner,
  dialog: OpenDialog,
  explorer: Explorer,
): Promise<void> {
  const names = await service.examples().catch(() => []);
  byId('examples-box').hidden = names.length === 0;
  const list = byId('examples');
  const known = Object.keys(TITLES);
  const rank = (name: string) => (known.includes(name) ? known.indexOf(name) : known.length);
  for (const name of [...names].sort((a, b) => rank(a) - rank(b))) {
    const button = make('button', { type: 'button' }, TITLES[name] ?? name);
    button.addEventListener('click', async () => {
      try {
        await openExample(service, runner, dialog, name);
        explorer.lookFrom('z', HEIGHTS[name]);
      } catch (thrown) {
        runner.report(thrown);
      }
    });
    list.append(make('li', {}, button));
  }
}

/** Shows an example, and begins to resolve it. */
async function openExample(service: Service, runner: Runner, dialog: OpenDialog, name: string): Promise<void> {
  const files = ['start.obj', 'target.obj', 'options.json'];
  const [start, target, options] = await Promise.all(files.map((file) => service.example(name, file)));
  // The pair also goes into the dialog, so that it can be resolved again with other parameters.
  dialog.start = await readMeshBlob('start.obj', start!);
  dialog.target = await readMeshBlob('target.obj', target!);
  dialog.options = readOptionsText('options.json', await options!.text());
  void runner.run({ ...dialog.job(), title: TITLES[name] ?? name });
}
