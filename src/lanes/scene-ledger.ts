import type { MeshInput } from '../contract/mesh.js';
import type { SavedSession } from '../jobs/saved-session.js';
import type { HeldVersions, SceneDelta, SceneState } from '../jobs/tasks.js';
import type { MeshMeasures } from '../mesh/types.js';
import type { Lane } from './lane-pool.js';

/** What the main thread knows of one scene. */
export interface SceneRecord {
  readonly key: number;
  readonly tenant: string;
  /** the lanes that may be its home, from the first job on */
  readonly lanes: readonly Lane[];
  /** of its mesh, as in its last job */
  vertices: number;
  /** the lane that holds the scene; its jobs run only there */
  home: Lane | undefined;
  /** the versions that the thread there holds */
  held: HeldVersions | undefined;
  /** of frame 0: they survive the thread and any parking, so that defaults do not drift */
  measures: MeshMeasures | undefined;
  /** of a parked scene, until a thread holds it again */
  saved: SavedSession | undefined;
  /** the thread lost the scene, and no step has reported it yet */
  isLost: boolean;
  /** number of jobs that wait or run */
  pending: number;
  /** to be dropped when nothing is pending */
  isForgotten: boolean;
}

/** The data from which a scene of another process is built. */
export interface AdoptedScene {
  readonly mesh: MeshInput;
  /** of frame 0 */
  readonly measures: MeshMeasures;
  /** undefined = lost */
  readonly saved: SavedSession | undefined;
}

/** The scenes by key: home lane, versions held, and data that survives the loss of a thread. */
export class SceneLedger {
  private readonly records = new Map<number, SceneRecord>();

  get size(): number {
    return this.records.size;
  }

  find(key: number): SceneRecord | undefined {
    return this.records.get(key);
  }

  /**
   * The record, new or old, with a home: its own one, otherwise the lane with the fewest scenes, the first of several.
   * Scenes that submit together share one lane until it has as many of them as one submission holds.
   *
   * @param lanes of a new record
   * @param vertices of the mesh
   */
  settle(key: number, tenant: string, lanes: readonly Lane[], vertices: number): SceneRecord {
    let record = this.records.get(key);
    if (!record) {
      record = {
        key,
        tenant,
        lanes,
        vertices,
        home: undefined,
        held: undefined,
        measures: undefined,
        saved: undefined,
        isLost: false,
        pending: 0,
        isForgotten: false,
      };
      this.records.set(key, record);
    }
    record.vertices = vertices;
    if (!record.home) {
      record.home = homeFor(record);
      record.home.residents.add(record);
    }
    record.pending++;
    return record;
  }

  /** The record of a scene that another process has held. It has no home until its first job. */
  adopt(key: number, tenant: string, lanes: readonly Lane[], { mesh, measures, saved }: AdoptedScene): void {
    const empty = { home: undefined, held: undefined, pending: 0, isForgotten: false };
    const { vertexCount: vertices } = mesh;
    this.records.set(key, { key, tenant, lanes, vertices, measures, saved, isLost: saved === undefined, ...empty });
  }

  /** Drops the saved data of a parked scene. */
  dropSaved(key: number): void {
    const record = this.records.get(key);
    if (!record?.saved) return;
    record.saved = undefined;
    record.isLost = true;
  }

  /** For a deleted session: drops the record as soon as nothing needs it. */
  forget(record: SceneRecord): void {
    record.isForgotten = true;
    this.release(record);
  }

  /**
   * A job of the scene has ended.
   *
   * @param held what the thread reported; undefined also if it died
   * @param saved what the thread has saved of the scene that it released
   */
  finish(record: SceneRecord, held: HeldVersions | undefined, saved?: SavedSession): void {
    record.pending--;
    // The thread has released the scene, and could not save anything of it.
    if (record.held && !held && !saved) record.isLost = true;
    record.held = held;
    if (saved) record.saved = saved;
    if (held) record.saved = undefined;
    record.measures ??= held?.measures;
    this.release(record);
  }

  /** A job of the scene ended without having reached the thread. */
  cancel(record: SceneRecord): void {
    record.pending--;
    this.release(record);
  }

  /** The thread of a lane has died with all its scenes. */
  loseLane(lane: Lane): void {
    for (const record of this.records.values()) {
      if (record.home !== lane || !record.held) continue;
      record.held = undefined;
      record.isLost = true;
      this.release(record);
    }
  }

  /** The scene's versions with the data that the thread lacks. */
  deltaOf(record: SceneRecord, state: SceneState): SceneDelta {
    const { key, meshVersion, stateVersion } = state;
    const { held } = record;
    return {
      key,
      meshVersion,
      stateVersion,
      mesh: held?.meshVersion === meshVersion ? undefined : state.mesh,
      start: held?.stateVersion === stateVersion ? undefined : state.start,
      measures: record.measures,
      saved: held ? undefined : record.saved,
      // No frame before the first left anything that could be lost.
      wasLost: record.isLost && stateVersion > 0,
    };
  }

  /** A scene that no thread holds and no job needs has no home; one that was never built has no record either. */
  private release(record: SceneRecord): void {
    if (record.pending > 0 || record.held) return;
    record.home?.residents.delete(record);
    record.home = undefined;
    if (record.isForgotten || !record.measures) this.records.delete(record.key);
  }
}

function homeFor({ lanes, vertices }: SceneRecord): Lane {
  const company = lanes.find((lane) => {
    if (!lane.isSmall({ vertices })) return false;
    const { smallScenes } = lane;
    return smallScenes > 0 && smallScenes < lane.places;
  });
  return company ?? lanes.reduce((best, lane) => (lane.scenes < best.scenes ? lane : best));
}
