/** Types of certificate.mjs, for those who import it from TypeScript. */

export interface CertificateHeader {
  readonly format: 1;
  readonly writtenBy?: string;
  readonly algorithmVersion?: string;
  readonly engine?: string;
  readonly vertexCount: number;
  readonly skipKinematic?: boolean;
}

export interface CertificateVerdict {
  readonly isConfirmed: boolean;
  /** the first problems, in words */
  readonly problems: readonly string[];
  /** of all problems */
  readonly problemCount: number;
  readonly states: number;
  readonly pieces: number;
  readonly vertices: number;
  /** kinematic vertices under `skipKinematic`: pairs of elements that have no others were not tested and may intersect */
  readonly uncoveredVertices: number;
  /** pairs of elements proved apart, over all pieces */
  readonly pairs: number;
  /** of the whole file, in hex */
  readonly sha256: string;
  /** absent if the file could not be read */
  readonly header: CertificateHeader | undefined;
}

type Positions = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

export interface CertificateArrays {
  readonly triangles: Uint32Array<ArrayBuffer>;
  readonly segments: Uint32Array<ArrayBuffer>;
  readonly particles: Uint32Array<ArrayBuffer>;
  readonly kinematic: Uint8Array<ArrayBuffer>;
  readonly phases: Uint8Array<ArrayBuffer>;
  readonly steps: Uint32Array<ArrayBuffer>;
  readonly states: Positions;
  readonly start: Positions;
  readonly answer: Positions;
}

/** The header and the arrays, whose hashes are right. @throws Error that says what is wrong with the file */
export function readCertificate(bytes: Uint8Array): {
  readonly header: CertificateHeader;
  readonly arrays: CertificateArrays;
};

export function checkCertificate(
  bytes: Uint8Array,
  options?: {
    readonly onProgress?: (done: number, all: number) => void;
    /** awaited after every piece; what it throws ends the check */
    readonly yields?: () => Promise<void>;
  },
): Promise<CertificateVerdict>;
