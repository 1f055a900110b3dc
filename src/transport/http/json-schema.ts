import { ENUMS, type EnumShape, type FieldShape, MESSAGES, type MessageShape } from '../messages/schema.js';
import { exampleOf } from './examples.js';

/** JSON Schema of the proto3 JSON mapping for the OpenAPI document. The decoder does not use it. */

export interface Schema {
  [keyword: string]: unknown;
}

export function schemaOf(shape: MessageShape): Schema {
  return {
    $id: shape.name,
    type: 'object',
    additionalProperties: false,
    ...(shape.comment ? { description: shape.comment } : {}),
    examples: [exampleOf(shape.name)],
    properties: Object.fromEntries(shape.fields.map((field) => [field.jsonName, fieldSchema(field)])),
  };
}

function enumSchemaOf(shape: EnumShape): Schema {
  const comments = [...shape.comments].map(([name, comment]) => `${name}: ${comment}`);
  return {
    $id: shape.name,
    type: 'string',
    enum: [...shape.byName.keys()],
    ...(comments.length > 0 ? { description: comments.join('\n') } : {}),
  };
}

/** Every message and enum of the contract, each with its name as `$id`. */
export function contractSchemas(): Schema[] {
  return [...[...MESSAGES.values()].map(schemaOf), ...[...ENUMS.values()].map(enumSchemaOf)];
}

function fieldSchema(field: FieldShape): Schema {
  const one = valueSchema(field);
  const schema: Schema = field.isRepeated ? { type: 'array', items: one } : one;
  return field.comment ? { ...schema, description: field.comment } : schema;
}

function valueSchema(field: FieldShape): Schema {
  const kind = field.kind;
  switch (kind.of) {
    case 'message':
    case 'enum':
      return { $ref: `${kind.type}#` };
    case 'duration':
      return { type: 'string', pattern: '^-?\\d+(\\.\\d{1,9})?s$', examples: ['1.5s'] };
    case 'timestamp':
      return { type: 'string', format: 'date-time' };
    case 'bulk': {
      const isFloat = kind.element === 'scalar' || kind.element.startsWith('float');
      const items = isFloat ? { type: 'number' } : { type: 'integer', minimum: 0 };
      return {
        oneOf: [
          { type: 'string', contentEncoding: 'base64' },
          { type: 'array', items },
        ],
      };
    }
    case 'scalar':
      return scalarSchema(kind.type);
  }
}

function scalarSchema(type: string): Schema {
  // The format implies the limits. If they were stated, the page would offer them as examples.
  if (type === 'uint32') return { type: 'integer', format: 'uint32', minimum: 0 };
  if (type === 'int32') return { type: 'integer', format: 'int32' };
  if (type === 'uint64' || type === 'int64') return { type: 'string', pattern: '^-?\\d+$' };
  if (type === 'bool') return { type: 'boolean' };
  return { type: type === 'string' ? 'string' : 'number' };
}
