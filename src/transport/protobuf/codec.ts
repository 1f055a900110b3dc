/** The wire format of the contract's messages, both ways, for every transport that carries it. */
export { decodeMessage } from './decode.js';
export { encodeMessage, encodeReported } from './encode.js';
