import type { Connection } from './connection.js';
import { ServiceError } from './errors.js';
import type { Positions, Report, StepOptions, StepResult } from './types.js';
import { bytesOf, floatsToBase64, motionTo, parseAnswer, scalarOf, toBase64, workToJson } from './wire.js';

export interface StepWork {
  /** of the session */
  readonly id: string;
  readonly frame: number;
  /** the last frame that was answered; 0 = none */
  readonly afterFrame: number;
  readonly target: Positions;
  /** the remaining time budget of the step */
  readonly budgetSeconds: number | undefined;
  /** that this attempt may take */
  readonly limitSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends one step once: as raw positions if nothing else is to be sent, else as JSON. @throws ServiceError */
export function sendStep(connection: Connection, work: StepWork, options: StepOptions): Promise<StepResult> {
  const { start, kinematic, masses, include, priority, onProgress } = options;
  const isRaw = !start && !kinematic && !masses && !include && priority === undefined && !onProgress;
  return isRaw ? sendRaw(connection, work, options) : sendMessage(connection, work, options);
}

const pathOf = ({ id }: StepWork): string => `/v1/sessions/${encodeURIComponent(id)}/steps`;

function sendRaw(connection: Connection, work: StepWork, { override, onBudget, signal }: StepOptions) {
  const { frame, afterFrame, target, budgetSeconds, limitSeconds } = work;
  const headers = {
    ...work.headers,
    ...(override ? { 'interstice-override': JSON.stringify(override) } : {}),
    ...(budgetSeconds === undefined ? {} : { 'interstice-time-budget-ms': (budgetSeconds * 1000).toFixed(3) }),
    ...(onBudget ? { 'interstice-on-budget': onBudget } : {}),
  };
  const path = `${pathOf(work)}?scalar=${scalarOf(target)}&frame=${frame}&after_frame=${afterFrame}`;
  const request = { headers, body: bytesOf(target), signal, limitSeconds };
  return connection.request(path, request, async (response): Promise<StepResult> => {
    const report = parseAnswer(response.headers.get('interstice-report') ?? 'null') as Report | null;
    const body = await response.arrayBuffer();
    if (report === null || body.byteLength !== target.byteLength) {
      throw new ServiceError({
        code: 'UNEXPECTED_ANSWER',
        message: `The answer to a step of ${target.byteLength} bytes has ${body.byteLength} bytes and ${report ? 'a' : 'no'} report.`,
        hint: 'Does a proxy remove headers that begin with interstice-, or change bodies?',
        isUncertain: true,
      });
    }
    return {
      frame,
      report,
      positions: scalarOf(target) === 'float64' ? new Float64Array(body) : new Float32Array(body),
    };
  });
}

async function sendMessage(connection: Connection, work: StepWork, options: StepOptions): Promise<StepResult> {
  const { kinematic, masses, override, signal, onProgress } = options;
  const { frame, afterFrame, target, budgetSeconds, limitSeconds, headers } = work;
  const body = JSON.stringify({
    ...workToJson(target, options, budgetSeconds),
    frame: String(frame),
    afterFrame: String(afterFrame),
    kinematic: kinematic && toBase64(kinematic),
    masses: masses && floatsToBase64(masses, 'Masses'),
    override,
  });
  const request = { headers, body, signal, limitSeconds };
  return { frame, ...(await connection.requestJson(pathOf(work), request, motionTo(target), onProgress)) };
}
