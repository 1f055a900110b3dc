import { type CertificateVerdict, checkCertificate, readCertificate } from '../../checker/certificate.mjs';
import type { Explorer } from './explorer.js';
import { formatCount } from './format.js';
import type { Runner } from './runner.js';
import { type Study, statesOf, studyOfPair } from './study.js';
import { byId } from './ui/dom.js';

/** Matches the names of certificate files. */
export const CERTIFICATE = /\.certificate$/i;

/**
 * Confirms certificates in this browser, with the checker that anybody can also run separately: nothing is sent
 * anywhere, and no service is needed.
 */
export class Certifier {
  constructor(
    private readonly explorer: Explorer,
    private readonly runner: Runner,
    private readonly showTab: (name: string) => void,
  ) {}

  /** Checks a file and shows its path with the verdict; a refusal is also shown as text. */
  async check(name: string, file: Blob): Promise<void> {
    const { signal } = this.runner.begin();
    const stop = this.runner.showBusy('Checking the certificate…', `${name}: reading`);
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const verdict = await checkCertificate(bytes, {
        onProgress: (done, all) => {
          byId('busy-note').textContent = `${name}: state ${formatCount(done)} of ${formatCount(all)}`;
        },
        yields: async () => {
          await nextTurn();
          signal.throwIfAborted();
        },
      });
      if (signal.aborted) return;
      this.#show(name, bytes, verdict);
    } catch (thrown) {
      if (!signal.aborted) this.runner.report(thrown);
    } finally {
      stop();
    }
  }

  #show(name: string, bytes: Uint8Array, verdict: CertificateVerdict): void {
    const { isConfirmed, problems, problemCount } = verdict;
    if (verdict.header) {
      this.explorer.load(studyOfCertificate(name, bytes, verdict));
      for (const id of ['rerun', 'diagnose', 'saving']) byId(id).hidden = true;
      this.showTab('result');
      // On a phone the verdict lies below the scene, out of sight.
      byId('panel').scrollIntoView();
    }
    byId('scene-text').textContent = `The certificate is ${isConfirmed ? 'confirmed' : 'refused'}.`;
    if (isConfirmed) return;
    const more = problemCount > 1 ? ` There are ${formatCount(problemCount)} such problems.` : '';
    this.runner.report({
      code: 'CERTIFICATE_REFUSED',
      message: `${name}: ${problems[0]}${more}`,
      hint: 'Do not rely on it: the file was changed after it was written, or it certifies something that is not true.',
    });
  }
}

/** The content of a certificate as a study: its states are the path. It contains no target. */
function studyOfCertificate(name: string, bytes: Uint8Array, certificate: CertificateVerdict): Study {
  const { header, arrays } = readCertificate(bytes);
  const { triangles, segments, particles, kinematic, start, phases, steps, states } = arrays;
  const { vertexCount } = header;
  const mesh = {
    vertexCount,
    triangles,
    segments,
    particles,
    ...(kinematic.includes(1) ? { kinematic } : {}),
  };
  const study = studyOfPair({ title: name, mesh, start, target: undefined });
  return { ...study, ...statesOf({ phases, steps, positions: states }, vertexCount), certificate };
}

/** Between two turns the page draws and handles input. */
const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve));
