import type { ContactForm } from '../../contract/parameters.js';
import { defineStage } from '../../threads/stage.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import { CONTACT_TERMS } from './contact-forms.js';
import type { PairArrays } from './pair-set.js';

interface RowArrays extends Pick<PairArrays, 'kind' | 'vertex' | 'normal' | 'weight' | 'distance' | 'delta'> {
  /** int32[n] the pair of each row */
  readonly kept: Int32Array;
  readonly x: Float32Array;
  readonly inverseMass: Float32Array;
  // As in {@link Contacts}; a stiffness of 0 marks a row that cannot move anything:
  readonly corner: Int32Array;
  readonly jacobian: Float32Array;
  readonly value: Float32Array;
  readonly stiffness: Float32Array;
  readonly pairOf: Int32Array;
  /** int32[1] number of rows that cannot move anything */
  readonly idle: Int32Array;
}

interface RowNumbers {
  /** index into the contact forms */
  readonly form: number;
}

export const ROWS_CHUNK = 1024;

/** Nanoseconds per row, whose pair may lie anywhere in P. */
export const ROWS_COST = 150;

const TERMS = Object.values(CONTACT_TERMS);

export function indexOfForm(form: ContactForm): number {
  return Object.keys(CONTACT_TERMS).indexOf(form);
}

/**
 * Row n of a backward step (Eqs. 10–12, contacts.ts) is that of the pair kept[n], regardless of which thread computes
 * it.
 */
export const ROWS = defineStage(import.meta.url, 'contact rows', fillRows);

function fillRows(arrays: RowArrays, { form }: RowNumbers, from: number, to: number): void {
  const { kept, kind, vertex, normal, weight, distance, delta, x, inverseMass } = arrays;
  const { corner, jacobian, value, stiffness, pairOf, idle } = arrays;
  const addTerm = TERMS[form];
  let withoutMotion = 0;
  for (let row = from; row < to; row++) {
    const p = kept[row];
    const corners = CORNERS[kind[p]];
    const sideA = SIDE_A[kind[p]];
    for (let s = 0; s < 4; s++) {
      const w = s < corners ? weight[4 * p + s] : 0;
      const signed = s < sideA ? w : -w;
      corner[4 * row + s] = w > 0 ? vertex[4 * p + s] : -1;
      const q = 12 * row + 3 * s;
      jacobian[q] = signed * normal[3 * p];
      jacobian[q + 1] = signed * normal[3 * p + 1];
      jacobian[q + 2] = signed * normal[3 * p + 2];
    }
    addTerm?.(arrays, p, x, jacobian, 12 * row);
    let sum = 0;
    for (let s = 0; s < 4; s++) {
      const v = corner[4 * row + s];
      if (v < 0) continue;
      const q = 12 * row + 3 * s;
      sum += inverseMass[v] * (jacobian[q] ** 2 + jacobian[q + 1] ** 2 + jacobian[q + 2] ** 2);
    }
    const canMove = sum > 0;
    if (!canMove) withoutMotion++;
    stiffness[row] = canMove ? sum : 0;
    pairOf[row] = p;
    value[row] = distance[p] - delta[p];
  }
  if (withoutMotion > 0) Atomics.add(idle, 0, withoutMotion);
}
