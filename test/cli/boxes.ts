export interface Box {
  /** low corner */
  readonly at: readonly [number, number, number];
  readonly size: readonly [number, number, number];
  /** cells along each edge */
  readonly cells: number;
}

type Vec = [number, number, number];

/** Closed boxes as OBJ text, each face a grid of cells × cells squares of two triangles that are oriented outwards. */
export function boxesObj(boxes: readonly Box[]): string {
  const vertices: string[] = [];
  const faces: string[] = [];
  for (const { at, size, cells } of boxes) {
    const ids = new Map<string, number>();
    const idOf = (point: Vec): number => {
      const key = point.join();
      const known = ids.get(key);
      if (known !== undefined) return known;
      vertices.push(`v ${point.map((value, k) => at[k]! + (size[k]! * value) / cells).join(' ')}`);
      ids.set(key, vertices.length);
      return vertices.length;
    };
    for (let axis = 0; axis < 3; axis++) {
      for (const height of [0, cells]) {
        const point = (u: number, v: number): Vec => {
          const result: Vec = [0, 0, 0];
          result[axis] = height;
          result[(axis + 1) % 3] = u;
          result[(axis + 2) % 3] = v;
          return result;
        };
        for (let u = 0; u < cells; u++) {
          for (let v = 0; v < cells; v++) {
            const [a, b] = [idOf(point(u, v)), idOf(point(u + 1, v))];
            const [c, d] = [idOf(point(u + 1, v + 1)), idOf(point(u, v + 1))];
            faces.push(
              ...(height > 0 ? [`f ${a} ${b} ${c}`, `f ${a} ${c} ${d}`] : [`f ${a} ${c} ${b}`, `f ${a} ${d} ${c}`]),
            );
          }
        }
      }
    }
  }
  return `${[...vertices, ...faces].join('\n')}\n`;
}

/** The same surface with every triangle the other way round. */
export const insideOut = (obj: string): string => obj.replace(/^f (\d+) (\d+) (\d+)$/gm, 'f $1 $3 $2');
