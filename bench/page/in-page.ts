/** A median and a maximum, milliseconds. */
interface Spread {
  readonly median: number;
  readonly most: number;
}

export interface Measures {
  readonly triangles: number;
  readonly vertices: number;
  readonly states: number;
  readonly pathBytes: number;
  /** by kind of action: the JavaScript that ran for it, and for moves the time from one frame to the next */
  readonly moves: Readonly<Record<string, { readonly script: Spread; readonly frame?: Spread }>>;
}

/** The parts of a browser that this function uses; it runs there, and is passed as text. */
interface Window {
  readonly interstice: { readonly explorer: Explorer };
  readonly document: { getElementById(id: string): Control; querySelector(selector: string): Control };
  requestAnimationFrame(act: () => void): void;
}

interface Control {
  value: string;
  dispatchEvent(event: Event): void;
  getBoundingClientRect(): { left: number; top: number; width: number; height: number };
  setPointerCapture: unknown;
}

interface Explorer {
  readonly study: {
    readonly mesh: { readonly vertexCount: number };
    readonly path: readonly { readonly byteLength: number }[];
  };
  readonly stage: { readonly visibleTriangles: number; readonly viewer: { drawNow(): void } };
  pickAt(x: number, y: number): void;
  setField(id: string): void;
}

/**
 * Runs in the page: performs the actions of a user, and measures the time of the resulting JavaScript, including
 * rendering.
 */
export async function measureInPage(): Promise<Measures> {
  const window = globalThis as unknown as Window;
  const { explorer } = window.interstice;
  const { stage, study } = explorer;
  const canvas = window.document.getElementById('view');
  const slider = window.document.getElementById('slider');
  const box = canvas.getBoundingClientRect();
  const spread = (times: readonly number[]): Spread => {
    const sorted = [...times].sort((a, b) => a - b);
    return { median: sorted[sorted.length >> 1]!, most: sorted.at(-1)! };
  };
  let drawing = 0;
  const draw = stage.viewer.drawNow;
  stage.viewer.drawNow = function drawNow() {
    const began = performance.now();
    draw.call(stage.viewer);
    drawing += performance.now() - began;
  };
  const nextPicture = () => new Promise<void>((done) => window.requestAnimationFrame(() => setTimeout(done)));
  const measure = async (count: number, act: (n: number) => void) => {
    const scripts: number[] = [];
    const frames: number[] = [];
    let last = performance.now();
    for (let n = 0; n < count; n++) {
      drawing = 0;
      const began = performance.now();
      act(n);
      const acted = performance.now() - began;
      await nextPicture();
      scripts.push(acted + drawing);
      frames.push(performance.now() - last);
      last = performance.now();
    }
    return { script: spread(scripts), frame: spread(frames) };
  };
  /** Sends a pointer event on the canvas like a mouse. */
  const point = (type: string, x: number, y: number) => {
    const at = { clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerId: 1, button: 0, buttons: 1 };
    const Pointer = (globalThis as unknown as { PointerEvent: new (type: string, init: object) => Event }).PointerEvent;
    canvas.dispatchEvent(new Pointer(type, { ...at, pointerType: 'mouse' }));
  };
  const slide = (n: number) => {
    slider.value = String((n % 50) / 50);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const picks = (n: number) =>
    explorer.pickAt(box.left + box.width * (0.3 + 0.02 * (n % 20)), box.top + 0.5 * box.height);

  // A synthetic pointer cannot be captured.
  canvas.setPointerCapture = () => {};
  const moves: Record<string, { readonly script: Spread; readonly frame?: Spread }> = {};
  point('pointerdown', 100, 100);
  moves.turning = await measure(40, (n) => point('pointermove', 100 + 4 * n, 100 + 2 * n));
  point('pointerup', 260, 180);
  for (const field of ['parts', 'distance', 'stretch', 'moved']) {
    explorer.setField(field);
    await nextPicture();
    moves[`sliding, ${field}`] = await measure(50, slide);
  }
  moves.hovering = await measure(20, (n) => point('pointermove', 100 + n, 100));
  slide(49);
  await nextPicture();
  moves['first pick'] = { script: (await measure(1, picks)).script };
  moves.pick = { script: (await measure(20, picks)).script };
  moves['pick after a slide'] = {
    script: (
      await measure(10, (n) => {
        slide(n);
        picks(n);
      })
    ).script,
  };
  return {
    triangles: stage.visibleTriangles,
    vertices: study.mesh.vertexCount,
    states: study.path.length,
    pathBytes: study.path.reduce((sum, { byteLength }) => sum + byteLength, 0),
    moves,
  };
}
