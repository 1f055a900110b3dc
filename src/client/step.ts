import type { Connection } from './connection.js';
import { ServiceError } from './errors.js';
import type { Positions, Report, StepOptions, StepResult } from './types.js';
import { bytesOf, motionFromJson, parseAnswer, scalarOf, toBase64, workToJson } from './wire.js';

export interface StepWork {
  /** of the session */
  readonly id: string;
  readonly frame: number;
  readonly target: Positions;
  /** what is left of the step's time budget */
  readonly budgetSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends one step once: as bare positions where they say it all. @throws ServiceError */
export function sendStep(connection: Connection, work: StepWork, options: StepOptions): Promise<StepResult> {
  const { start, kinematic, masses, include, priority } = options;
  const isBare = !start && !kinematic && !masses && !include && priority === undefined;
  return isBare ? sendBare(connection, work, options) : sendMessage(connection, work, options);
}

const pathOf = ({ id }: StepWork): string => `/v1/sessions/${encodeURIComponent(id)}/steps`;

function sendBare(connection: Connection, work: StepWork, { override, onBudget, signal }: StepOptions) {
  const { frame, target, budgetSeconds } = work;
  const headers = {
    ...work.headers,
    ...(override ? { 'interstice-override': JSON.stringify(override) } : {}),
    ...(budgetSeconds === undefined ? {} : { 'interstice-time-budget-ms': (budgetSeconds * 1000).toFixed(3) }),
    ...(onBudget ? { 'interstice-on-budget': onBudget } : {}),
  };
  const path = `${pathOf(work)}?scalar=${scalarOf(target)}&frame=${frame}`;
  return connection.send(path, { headers, body: bytesOf(target), signal }, async (response): Promise<StepResult> => {
    const report = parseAnswer(response.headers.get('interstice-report') ?? 'null') as Report | null;
    const body = await response.arrayBuffer();
    if (report === null || body.byteLength !== target.byteLength) {
      throw new ServiceError({
        code: 'UNEXPECTED_ANSWER',
        message: `A step of ${target.byteLength} bytes had ${body.byteLength} and ${report ? 'a' : 'no'} report in answer.`,
        hint: 'Does a proxy drop headers that begin with interstice-, or change bodies?',
        isUncertain: true,
      });
    }
    return {
      frame,
      report,
      positions: target instanceof Float64Array ? new Float64Array(body) : new Float32Array(body),
    };
  });
}

async function sendMessage(connection: Connection, work: StepWork, options: StepOptions): Promise<StepResult> {
  const { kinematic, masses, override, signal } = options;
  const { frame, target, budgetSeconds, headers } = work;
  const body = JSON.stringify({
    ...workToJson(target, options, budgetSeconds),
    frame: String(frame),
    kinematic: kinematic && toBase64(kinematic),
    masses: masses && toBase64(masses),
    override,
  });
  return { frame, ...motionFromJson(await connection.ask(pathOf(work), { headers, body, signal })) };
}
