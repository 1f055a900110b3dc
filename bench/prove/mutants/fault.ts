import ts from 'typescript';

/**
 * A fault of the product, identified by its place: a function or a constant of a compiled module, or of a kernel. The
 * name is looked up in the parsed text, so that a fault survives every change that keeps the name.
 */
export type Fault = FunctionFault | ConstantFault | KernelFault | LineFault;

/** A function of a module behaves differently. */
export interface FunctionFault {
  /** below the build's folder: `src/solver/frame.js` */
  readonly file: string;
  /** `name`, `Class.method`, `Class.#method` or `Class.constructor`; accessors count as methods */
  readonly function: string;
  readonly instead: Replacement;
}

/**
 * Called instead of the function: the original comes first, then the arguments. Its text is planted into another
 * module, so it may refer only to its own arguments and to globals.
 */
export type Replacement = (original: never, ...args: never[]) => unknown;

/** A constant of a module or kernel (`NAME`), or the initial value of a field (`Class.field`), has another value. */
export interface ConstantFault {
  readonly file: string;
  readonly constant: string;
  /** an expression of the file's language */
  readonly value: string;
}

/** A function of a kernel has another body. */
export interface KernelFault {
  /** `gpu/kernels/….wgsl` */
  readonly file: string;
  readonly function: string;
  /** WGSL; may call the original function by the name `original_NAME`, unless it is an entry point */
  readonly body: string;
}

/** A text that occurs exactly once is replaced. */
export interface LineFault {
  readonly file: string;
  readonly search: string;
  readonly replacement: string;
}

/** @throws Error if the fault does not fit the text */
export function plantFault(text: string, fault: Fault): string {
  if ('search' in fault) return replaceOnce(text, fault);
  if ('constant' in fault) {
    return fault.file.endsWith('.wgsl') ? plantKernelConstant(text, fault) : plantConstant(text, fault);
  }
  return 'body' in fault ? plantKernelBody(text, fault) : plantFunction(text, fault);
}

function replaceOnce(text: string, { file, search, replacement }: LineFault): string {
  const pieces = text.split(search);
  if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} times: ${search}`);
  return pieces.join(replacement);
}

function plantFunction(text: string, fault: FunctionFault): string {
  const { file, function: name, instead } = fault;
  const hook = theOnly(functionsOf(parse(file, text)), name, `${file} has no function`);
  const replacement = instead.toString();
  refuseFreeNames(name, replacement);
  const parameterCount = instead.length - 1;
  if (parameterCount > hook.parameters.length && !hook.parameters.some((parameter) => parameter.dotDotDotToken)) {
    throw new Error(`${file}: ${name} takes fewer than ${parameterCount} arguments.`);
  }
  if (hook.asteriskToken || !hook.body) throw new Error(`${file}: ${name} cannot be replaced.`);
  const parameters = hook.parameters.map((parameter) => parameter.getText()).join(', ');
  const asynchronous = hook.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ? 'async ' : '';
  if (ts.isArrowFunction(hook)) {
    return splice(text, hook, `(...args) => (${replacement})(${hook.getText()}, ...args)`);
  }
  const original = `${asynchronous}(${parameters}) => ${hook.body.getText()}`;
  const call = `(${replacement}).call(this, ${original}, ...arguments);`;
  return splice(text, hook.body, `{ ${ts.isConstructorDeclaration(hook) ? '' : 'return '}${call} }`);
}

function plantConstant(text: string, { file, constant, value }: ConstantFault): string {
  return splice(text, theOnly(constantsOf(parse(file, text)), constant, `${file} has no constant`), `(${value})`);
}

function plantKernelConstant(text: string, { file, constant, value }: ConstantFault): string {
  const declaration = new RegExp(`^((?:const|override) ${constant}\\b[^=]*=)([^;]*);`, 'gm');
  if ([...text.matchAll(declaration)].length !== 1) throw new Error(`${file} has no constant ${constant}.`);
  return text.replace(declaration, (_, head: string) => `${head} ${value};`);
}

function plantKernelBody(text: string, { file, function: name, body }: KernelFault): string {
  const heads = [...text.matchAll(new RegExp(`\\bfn ${name}\\s*\\(`, 'g'))];
  if (heads.length !== 1) throw new Error(`${file} has no function ${name}.`);
  const start = heads[0].index;
  const open = text.indexOf('{', start);
  let end = open;
  for (let depth = 0; ; end++) {
    if (end === text.length) throw new Error(`${file}: ${name} does not end.`);
    if (text[end] === '{') depth++;
    if (text[end] === '}' && --depth === 0) break;
  }
  const header = text.slice(start, open);
  const original = body.includes(`original_${name}`)
    ? `\n\n${text.slice(start, end + 1).replace(name, `original_${name}`)}`
    : '';
  return `${text.slice(0, start)}${header}{ ${body} }${original}${text.slice(end + 1)}`;
}

/** The original text of every file, which is that of the build, parsed once for many faults. */
const parsed = new Map<string, ts.SourceFile>();

function parse(file: string, text: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known?.text === text) return known;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  if (!known) parsed.set(file, source);
  return source;
}

function splice(text: string, node: ts.Node, replacement: string): string {
  return text.slice(0, node.getStart()) + replacement + text.slice(node.getEnd());
}

function theOnly<T>(named: readonly (readonly [string, T])[], name: string, absent: string): T {
  const found = named.filter(([each]) => each === name);
  if (found.length > 1) throw new Error(`${absent} that alone is called ${name}.`);
  if (found.length === 0) throw new Error(`${absent} ${name}.`);
  return found[0][1];
}

type Callable =
  | ts.FunctionDeclaration
  | ts.FunctionExpression
  | ts.ArrowFunction
  | ts.MethodDeclaration
  | ts.AccessorDeclaration
  | ts.ConstructorDeclaration;

/** Every function with a name, nested ones included. */
function functionsOf(file: ts.SourceFile): (readonly [string, Callable])[] {
  return nodesOf(file).flatMap((node): (readonly [string, Callable])[] => {
    if (ts.isFunctionDeclaration(node) && node.name) return [[node.name.text, node]];
    if (ts.isConstructorDeclaration(node)) return [[memberName(node, 'constructor'), node]];
    if (ts.isMethodDeclaration(node) || ts.isAccessor(node)) return [[memberName(node, node.name.getText()), node]];
    if (ts.isVariableDeclaration(node) && node.initializer) {
      const { initializer } = node;
      if (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)) {
        return [[node.name.getText(), initializer]];
      }
    }
    return [];
  });
}

/** The initial value of every constant and every field. */
function constantsOf(file: ts.SourceFile): (readonly [string, ts.Expression])[] {
  return nodesOf(file).flatMap((node): (readonly [string, ts.Expression])[] => {
    if (ts.isVariableDeclaration(node) && node.initializer) return [[node.name.getText(), node.initializer]];
    if (ts.isPropertyDeclaration(node) && node.initializer) {
      return [[memberName(node, node.name.getText()), node.initializer]];
    }
    return [];
  });
}

function memberName({ parent }: ts.Node, name: string): string {
  return ts.isClassLike(parent) ? `${parent.name?.text}.${name}` : name;
}

function nodesOf(root: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    node.forEachChild(visit);
  };
  visit(root);
  return nodes;
}

/** A name from the module where the replacement was written would be unknown where it is planted. */
function refuseFreeNames(name: string, replacement: string): void {
  const nodes = nodesOf(parse('replacement.js', `(${replacement})`));
  const declared = new Set(
    nodes.flatMap((node) =>
      ts.isParameter(node) || ts.isVariableDeclaration(node) || ts.isBindingElement(node) ? [node.name.getText()] : [],
    ),
  );
  for (const node of nodes) {
    if (!ts.isIdentifier(node) || declared.has(node.text) || node.text in globalThis || node.text === 'arguments')
      continue;
    const { parent } = node;
    const isMember =
      (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
      (ts.isPropertyAssignment(parent) && parent.name === node) ||
      (ts.isBindingElement(parent) && parent.propertyName === node);
    if (!isMember)
      throw new Error(`The replacement of ${name} refers to ${node.text}, which is unknown in the module.`);
  }
}
