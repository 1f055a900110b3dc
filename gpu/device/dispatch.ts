import type { Bindings, Kernel } from './kernel.js';
import type { Place } from './place.js';
import { type Launch, OwnPass, type Pass, SharedPass } from './recording.js';

/** Threads in a workgroup of every kernel that runs one thread per element. */
export const WORKGROUP_SIZE = 64;

/** Bytes of one dispatch's indirect arguments: three u32. */
export const DISPATCH_BYTES = 12;

/** Bytes; every implementation lets a uniform binding start at multiples of this. */
export const UNIFORM_STRIDE = 256;

/** WebGPU's limit for one dimension of a dispatch, on every adapter. */
export const MAX_GROUPS = 65_535;

/**
 * Returns the size [x, y, z] of a dispatch of at least `groups` workgroups, folded to two dimensions if one is not
 * enough. The device folds by the same rule (gpu/kernels/common/dispatch.wgsl).
 */
export function foldGroups(groups: number): [number, number, number] {
  if (groups <= MAX_GROUPS) return [groups, 1, 1];
  const rows = Math.ceil(groups / MAX_GROUPS);
  return [Math.ceil(groups / rows), rows, 1];
}

export const groupsFor = (threads: number): number => Math.ceil(threads / WORKGROUP_SIZE);

/** Returns the size of a dispatch with one thread per element. */
export const foldThreads = (threads: number): [number, number, number] => foldGroups(groupsFor(threads));

/** Indirect arguments: three u32 from this byte on. */
export interface Indirect {
  readonly place: Place;
  readonly offset: number;
}

/**
 * A kernel with its resources, and the place where the device finds the size of its dispatch; undefined = one
 * workgroup.
 */
export interface Dispatch {
  readonly kernel: Kernel;
  readonly bindings: Bindings;
  readonly size: Indirect | undefined;
  /** like {@link Launch.most} */
  readonly most: number;
}

/** What was set last. A thread records all passes one after the other, and every dispatch of an engine is set here. */
const last: { pass?: GPUComputePassEncoder; pipeline?: GPUComputePipeline; group?: GPUBindGroup } = {};

/** Sets pipeline and bind group of the next dispatch. It does not call the binding for one that is already set. */
function useKernel(pass: GPUComputePassEncoder, pipeline: GPUComputePipeline, group: GPUBindGroup): void {
  const isSamePass = last.pass === pass;
  if (!isSamePass || last.pipeline !== pipeline) pass.setPipeline(pipeline);
  if (!isSamePass || last.group !== group) pass.setBindGroup(0, group);
  last.pass = pass;
  last.pipeline = pipeline;
  last.group = group;
}

/** Records a dispatch of one scene. */
export function launch(pass: Pass, one: Launch): void {
  const { kernel, bindings, size } = one;
  if (pass instanceof SharedPass) {
    pass.add(one);
    return;
  }
  const current = pass instanceof OwnPass ? pass.count() : pass;
  useKernel(current, kernel.pipeline, bindings.group);
  if ('place' in size) current.dispatchWorkgroupsIndirect(size.place.buffer, size.place.offset + size.offset);
  else if (size[1] === 1) current.dispatchWorkgroups(size[0]);
  else current.dispatchWorkgroups(size[0], size[1]);
}

export const recordDispatch = (pass: Pass, dispatch: Dispatch): void =>
  launch(pass, { ...dispatch, size: dispatch.size ?? ONE });

const ONE = [1, 1] as const;
