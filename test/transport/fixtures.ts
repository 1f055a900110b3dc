/** One triangle and where it should go, in the forms that the door takes. */

export const START = [0, 0, 0, 1, 0, 0, 0, 1, 0];
export const TARGET = [0, 0, 1, 1, 0, 1, 0, 1, 1];

export function arraysRequest(): Record<string, unknown> {
  return {
    mesh: { vertexCount: 3, triangles: [0, 1, 2] },
    start: { data: [...START] },
    target: { data: [...TARGET] },
  };
}

export const base64Of = (array: ArrayBufferView): string =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');

export function base64Request(): Record<string, unknown> {
  return {
    mesh: { vertexCount: 3, triangles: base64Of(Uint32Array.of(0, 1, 2)) },
    start: { data: base64Of(Float32Array.from(START)) },
    target: { data: base64Of(Float32Array.from(TARGET)) },
  };
}

export const START_OBJ = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n';
export const TARGET_OBJ = 'v 0 0 1\nv 1 0 1\nv 0 1 1\nf 1 2 3\n';

export function plyOf(positions: readonly number[]): string {
  const rows = [0, 3, 6].map((i) => positions.slice(i, i + 3).join(' '));
  const header =
    'ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n';
  return `${header}${rows.join('\n')}\n3 0 1 2\n`;
}

export interface FormPart {
  readonly name: string;
  readonly filename?: string;
  readonly type?: string;
  readonly body: string | Uint8Array;
}

const BOUNDARY = 'interstice-test-boundary';

/** A form as bytes with its header, for app.inject. */
export function form(parts: readonly FormPart[]): { payload: Buffer; headers: Record<string, string> } {
  const chunks = parts.flatMap(({ name, filename, type, body }) => [
    Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n${type === undefined ? '' : `content-type: ${type}\r\n`}\r\n`,
    ),
    Buffer.from(body),
    Buffer.from('\r\n'),
  ]);
  return {
    payload: Buffer.concat([...chunks, Buffer.from(`--${BOUNDARY}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  };
}

export const startPart: FormPart = { name: 'start', filename: 'start.obj', body: START_OBJ };
export const targetPart: FormPart = { name: 'target', filename: 'target.obj', body: TARGET_OBJ };
