import { Certifier } from './certifier.js';
import { wireCharacterKeys } from './character-keys.js';
import { Doctor } from './doctor.js';
import { readEmbedded } from './embedded.js';
import { offerExamples } from './examples.js';
import { Explorer } from './explorer.js';
import { FileOpener } from './file-opener.js';
import type { LengthUnit } from './format.js';
import { wireKeys } from './keys.js';
import { Runner } from './runner.js';
import { Saver } from './saver.js';
import { Service } from './service/service.js';
import { wireTheme } from './theme.js';
import { byId, wireCancel, wireTabs } from './ui/dom.js';
import { OpenDialog } from './ui/open-dialog.js';
import { hideProblem, problemOf, showProblem } from './ui/problem.js';
import { SessionsPane } from './ui/sessions.js';
import { Untangler } from './untangler.js';

/** Assembles the page. A page in one file has no service: it shows its own data and files that are opened. */
function start(): void {
  const isStandalone = document.querySelector('meta[name="interstice-mode"]')?.getAttribute('content') === 'standalone';
  const service = isStandalone ? undefined : new Service(new URL('.', location.href).href.replace(/\/+$/, ''));

  let sessions: SessionsPane | undefined;
  const showTab = wireTabs(byId('panel').querySelector('.tabs')!, (name) => {
    if (name === 'sessions') sessions?.show();
    else sessions?.hide();
  });
  const explorer = new Explorer(showTab, service !== undefined);
  const runner = new Runner(explorer, service, () => dialog);
  new Doctor(explorer, service, showTab, (thrown, again) => runner.report(thrown, again));
  const untangler = new Untangler(explorer, service, runner, showTab);
  sessions = new SessionsPane(
    byId('sessions'),
    service,
    (thrown, again) => runner.report(thrown, again),
    () => explorer.unit,
  );

  const dialog: OpenDialog = new OpenDialog(
    (job) => void runner.run(job),
    (unit: LengthUnit) => explorer.setUnit(unit),
  );
  const certifier = new Certifier(explorer, runner, showTab);
  const opener = new FileOpener(
    dialog,
    (file) => void certifier.check(file.name, file),
    (thrown) => runner.report(thrown),
  );
  wireCancel();
  byId('rerun').addEventListener('click', () => dialog.open());
  new Saver(explorer, service);
  byId('problem-close').addEventListener('click', hideProblem);
  for (const id of ['open', 'choose', 'choose-more']) byId(id).addEventListener('click', () => opener.choose());
  byId('help').addEventListener('click', () => byId<HTMLDialogElement>('help-dialog').showModal());
  wireTheme(explorer.stage);
  wireKeys(explorer, wireCharacterKeys());

  explorer.renderPanes();
  byId('docs-link').hidden = isStandalone;
  // A page in one file has no other page to go to.
  if (isStandalone) byId('home').removeAttribute('href');
  const embedded = readEmbedded();
  if (embedded) {
    const { study, report } = embedded;
    explorer.load(study);
    if (report.up === 'y') explorer.turnUp();
    if (report.error) runner.showRefusal(problemOf(report.error));
  } else if (service) {
    void offerExamples(service, runner, dialog, explorer);
    void runner.resume((id, tangle) => untangler.resume(id, tangle));
  } else {
    byId('welcome-note').textContent =
      'This page works without a service: it shows meshes and how they differ, and confirms certificates. To resolve a pair, run npm start and open the address that it prints.';
  }
  // For tests and for the console.
  Object.assign(globalThis, { interstice: { explorer } });
}

try {
  start();
} catch (thrown) {
  showProblem(problemOf(thrown), undefined);
}
