import type { CheckAnswer, ResolveResult } from '../client/types.js';
import { motionFromJson, parseAnswer } from '../client/wire.js';
import type { MeshInput, PartInput, Positions } from '../contract/mesh.js';
import { type EmbeddedReport, REPORT_FORMAT, REPORT_ID } from './report-format.js';
import { type Study, studyOfPair, withAnswer } from './study.js';

interface PositionsJson {
  readonly data: string;
  readonly scalar?: string;
}

interface RequestJson {
  readonly mesh: Readonly<Record<string, unknown>> & {
    readonly vertexCount: number;
    readonly parts?: PartInput[];
    readonly restLengths?: { readonly positions?: PositionsJson };
  };
  readonly start: PositionsJson;
  readonly target: PositionsJson;
}

/** The report in this page; undefined if it has none. @throws Error for data of another format */
export function readEmbedded(): { readonly study: Study; readonly report: EmbeddedReport } | undefined {
  const text = document.getElementById(REPORT_ID)?.textContent;
  if (!text) return undefined;
  const report = JSON.parse(text) as EmbeddedReport;
  if (report.format !== REPORT_FORMAT)
    throw new Error(`The data of this page has the unknown format ${report.format}.`);
  return { study: studyOf(report), report };
}

function studyOf({ title, request, response, checks }: EmbeddedReport): Study {
  const { mesh, start: startJson, target: targetJson } = request as RequestJson;
  const pair = studyOfPair({
    title,
    mesh: meshOf(mesh),
    start: positionsOf(startJson),
    target: positionsOf(targetJson),
  });
  const study = { ...pair, checks: withCounts(checks) as Partial<Record<'start' | 'target', CheckAnswer>> };
  if (response === undefined) return study;
  const { report, ...motion } = response as { readonly report: unknown };
  return withAnswer(study, motionFromJson({ ...motion, report: withCounts(report) }) as ResolveResult);
}

/** Counts of 64 bits as numbers, for reports and findings only: in a mesh the same names are those of arrays. */
const withCounts = (value: unknown): unknown => parseAnswer(JSON.stringify(value));

function bytesOf(text: string): ArrayBuffer {
  const decoded = atob(text);
  const bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < decoded.length; i++) bytes[i] = decoded.charCodeAt(i);
  return bytes.buffer;
}

const positionsOf = ({ data, scalar }: PositionsJson): Positions =>
  scalar === 'FLOAT64' ? new Float64Array(bytesOf(data)) : new Float32Array(bytesOf(data));

/** A report of `interstice explain` has lengths at rest as positions only. */
function meshOf({ vertexCount, parts, restLengths, ...arrays }: RequestJson['mesh']): MeshInput {
  const ids = (name: string) => {
    const text = arrays[name];
    return typeof text === 'string' && text !== '' ? { [name]: new Uint32Array(bytesOf(text)) } : {};
  };
  const flags = arrays.kinematic;
  return {
    vertexCount,
    ...ids('triangles'),
    ...ids('segments'),
    ...ids('particles'),
    ...ids('tetrahedra'),
    ...(typeof flags === 'string' && flags !== '' ? { kinematic: new Uint8Array(bytesOf(flags)) } : {}),
    ...(parts?.length ? { parts } : {}),
    ...(restLengths?.positions ? { restLengths: { positions: positionsOf(restLengths.positions) } } : {}),
  };
}
