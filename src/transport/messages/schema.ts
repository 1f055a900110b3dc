import { join } from 'node:path';
import protobuf from 'protobufjs';
import { projectRoot } from '../../paths.js';
import { BULK_FIELDS, type ElementType } from './bulk.js';

/**
 * The messages of the contract as data, read from the .proto at start-up. JSON, protobuf and the OpenAPI document are
 * derived from it, so that each of them has every new field of the .proto.
 */

const PACKAGE = 'interstice.v1';

/** Options of a multipart request. They are not a message of the .proto, but follow the same rules in JSON. */
const OPTIONS_PROTO = `
  syntax = "proto3";
  package interstice.v1;
  message Options {
    Parameters parameters = 1;              // as in ResolveRequest
    optional uint32 kinematic_from = 2;     // every vertex from this id on is kinematic
    repeated uint32 kinematic_vertices = 3; // these vertices are kinematic
    repeated string kinematic_parts = 4;    // every vertex of these files is kinematic
    Include include = 5;                    // as in ResolveRequest; only where the answer is JSON
    google.protobuf.Duration time_budget = 6;
    OnBudget on_budget = 7;
    Priority priority = 8;
    optional double report_pairs_closer_than = 9;  // check only
    optional uint32 max_pairs = 10;         // check only; at most 65,536
    KinematicPairs kinematic_pairs = 11;    // check only
  }`;

export type ScalarType = 'double' | 'float' | 'uint32' | 'int32' | 'uint64' | 'int64' | 'bool' | 'string' | 'bytes';
const SCALAR_TYPES: ReadonlySet<string> = new Set<ScalarType>([
  'double',
  'float',
  'uint32',
  'int32',
  'uint64',
  'int64',
  'bool',
  'string',
  'bytes',
]);

export type FieldKind =
  | { readonly of: 'scalar'; readonly type: ScalarType }
  | { readonly of: 'bulk'; readonly element: ElementType | 'scalar' }
  | { readonly of: 'enum'; readonly type: string }
  | { readonly of: 'message'; readonly type: string }
  | { readonly of: 'duration' }
  | { readonly of: 'timestamp' };

export interface FieldShape {
  /** The name in the .proto. */
  readonly name: string;
  /** lowerCamelCase */
  readonly jsonName: string;
  /** Field number in protobuf. */
  readonly number: number;
  readonly kind: FieldKind;
  readonly isRepeated: boolean;
  /** Whether an unset field differs from one with the default value. */
  readonly hasPresence: boolean;
  /** Name of the oneof that contains the field. */
  readonly oneof?: string;
  readonly comment?: string;
}

export interface MessageShape {
  readonly name: string;
  readonly fields: readonly FieldShape[];
  /** By both accepted names. */
  readonly byName: ReadonlyMap<string, FieldShape>;
  readonly comment?: string;
}

export interface EnumShape {
  readonly name: string;
  readonly byName: ReadonlyMap<string, number>;
  readonly byNumber: ReadonlyMap<number, string>;
  readonly comments: ReadonlyMap<string, string>;
}

function loadRoot(): protobuf.Root {
  const root = new protobuf.Root();
  const options = { keepCase: true, alternateCommentMode: true };
  root.loadSync(join(projectRoot, 'proto', 'interstice', 'v1', 'collision.proto'), options);
  protobuf.parse(OPTIONS_PROTO, root, options);
  root.resolveAll();
  return root;
}

function kindOf(message: protobuf.Type, field: protobuf.Field): FieldKind {
  const resolved = field.resolvedType;
  if (resolved instanceof protobuf.Enum) return { of: 'enum', type: resolved.name };
  if (resolved instanceof protobuf.Type) {
    if (resolved.fullName === '.google.protobuf.Duration') return { of: 'duration' };
    if (resolved.fullName === '.google.protobuf.Timestamp') return { of: 'timestamp' };
    return { of: 'message', type: resolved.name };
  }
  if (!SCALAR_TYPES.has(field.type) || field.map) {
    throw new Error(`${message.name}.${field.name}: The JSON mapping does not support the type ${field.type}.`);
  }
  if (field.type !== 'bytes') return { of: 'scalar', type: field.type as ScalarType };
  const element = BULK_FIELDS[`${message.name}.${field.name}`];
  if (element === undefined)
    throw new Error(`${message.name}.${field.name}: The field has no element type in BULK_FIELDS.`);
  return { of: 'bulk', element };
}

function shapeOf(message: protobuf.Type): MessageShape {
  const fields = message.fieldsArray.map((field): FieldShape => {
    const kind = kindOf(message, field);
    const oneof = field.partOf && !field.partOf.isProto3Optional ? field.partOf.name : undefined;
    const isNested = kind.of === 'message' || kind.of === 'duration' || kind.of === 'timestamp';
    return {
      name: field.name,
      jsonName: field.name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      number: field.id,
      kind,
      isRepeated: field.repeated,
      hasPresence: !field.repeated && (isNested || Boolean(field.partOf)),
      ...(oneof === undefined ? {} : { oneof }),
      ...(field.comment ? { comment: field.comment } : {}),
    };
  });
  const byName = new Map(fields.flatMap((field) => [[field.name, field] as const, [field.jsonName, field] as const]));
  return { name: message.name, fields, byName, ...(message.comment ? { comment: message.comment } : {}) };
}

function enumShapeOf(source: protobuf.Enum): EnumShape {
  const entries = Object.entries(source.values);
  return {
    name: source.name,
    byName: new Map(entries),
    byNumber: new Map(entries.map(([name, number]) => [number, name])),
    comments: new Map(Object.entries(source.comments).filter((entry): entry is [string, string] => Boolean(entry[1]))),
  };
}

const root = loadRoot();
const contract = root.lookup(PACKAGE);
if (!(contract instanceof protobuf.Namespace)) throw new Error(`The .proto does not declare the package ${PACKAGE}.`);

/** Every message of the contract by its name, and `Options`. */
export const MESSAGES: ReadonlyMap<string, MessageShape> = new Map(
  contract.nestedArray.filter((entry) => entry instanceof protobuf.Type).map((type) => [type.name, shapeOf(type)]),
);

/** Every enum of the contract by its name. */
export const ENUMS: ReadonlyMap<string, EnumShape> = new Map(
  contract.nestedArray.filter((entry) => entry instanceof protobuf.Enum).map((type) => [type.name, enumShapeOf(type)]),
);

/** @throws Error for an unknown name, which is a programming error */
export function messageShape(name: string): MessageShape {
  const shape = MESSAGES.get(name);
  if (!shape) throw new Error(`The contract has no message ${name}.`);
  return shape;
}

/** @throws Error for an unknown name, which is a programming error */
export function enumShape(name: string): EnumShape {
  const shape = ENUMS.get(name);
  if (!shape) throw new Error(`The contract has no enum ${name}.`);
  return shape;
}
