import { GAP, HEADING, type Row, type Sheet } from '../sheet.js';
import { makeBodies } from './bodies.js';
import { Camera } from './camera.js';
import { Renderer } from './renderer.js';

/** Runs in the page of `Studio`: fills it with headings and panels. */
function drawSheet({ rows, panel, headings }: Sheet): void {
  const renderer = new Renderer(panel.width, panel.height);
  const element = document.getElementById('sheet')!;
  const columns = Math.max(...rows.map(({ states }) => states.length));
  element.style.gridTemplate = `${headings ? `${HEADING - GAP}px ` : ''}repeat(${rows.length}, ${panel.height}px) / repeat(${columns}, ${panel.width}px)`;
  element.style.gap = `${GAP}px`;
  element.replaceChildren();
  for (let c = 0; headings && c < columns; c++) {
    const heading = document.createElement('h2');
    heading.textContent = headings[c] ?? '';
    element.append(heading);
  }
  rows.forEach((row, r) => {
    for (const [column, canvas] of drawRow(row, renderer).entries()) {
      canvas.style.gridArea = `${r + (headings ? 2 : 1)} / ${column + 1}`;
      element.append(canvas);
    }
  });
  renderer.dispose();
}

/** A canvas for each state of a row. */
function drawRow({ bodies, states, framed, view }: Row, renderer: Renderer): HTMLCanvasElement[] {
  const camera = new Camera(framed, view, renderer.width, renderer.height);
  const ground = lowestOf(states);
  return states.map((state) => {
    const drawn = makeBodies(bodies, state, camera);
    try {
      return renderer.draw(drawn.group, camera, ground);
    } finally {
      drawn.dispose();
    }
  });
}

function lowestOf(states: readonly Float32Array[]): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const state of states) for (let i = 2; i < state.length; i += 3) lowest = Math.min(lowest, state[i]!);
  return lowest;
}

Object.assign(globalThis, { drawSheet });
