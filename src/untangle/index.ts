export type { UntanglePiece, UntangleProblem, UntangleTools } from './problem.js';
export { untangle } from './untangle.js';
