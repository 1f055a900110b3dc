import fp from 'fastify-plugin';
import { IntersticeError } from '../../contract/errors.js';
import { isAboutJobs, OPERATION_NAMES, OPERATIONS } from '../../contract/operation-table.js';
import { drainingError } from '../service-state.js';
import { noSuchPath, sendProblem, shownPath } from './errors.js';
import type { HttpOptions } from './options.js';

/** Requests to these paths count as in progress, and are refused while the server drains. */
const WORK_PREFIX = '/v1/';

/** Paths of the admin port that are asked for here by mistake. */
const ADMIN_PATHS: ReadonlySet<string> = new Set(['/metrics', '/config']);
const ADMIN_HINT = 'Metrics and settings are at the admin port, which INTERSTICE_ADMIN_PORT sets.';

/** Methods and routes of the requests about jobs. */
const JOB_QUESTIONS: ReadonlySet<string> = new Set(
  OPERATION_NAMES.filter(isAboutJobs).map((name) => `${OPERATIONS[name].httpMethod} ${OPERATIONS[name].httpPath}`),
);

/** Answers 404 and 405, and refuses requests while the server drains. */
export const paths = fp<HttpOptions>(
  async (app, { state }) => {
    const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
    app.addHook('onRoute', ({ url, method }) => {
      const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
      for (const one of [method].flat()) route.methods.add(one);
      routes.set(url, route);
    });
    app.addHook('onRequest', async (request, reply) => {
      const path = request.url.split('?', 1)[0] ?? '';
      if (request.is404) {
        const findMethods = (one: string) => [...routes.values()].find(({ pattern }) => pattern.test(one))?.methods;
        const allowed = findMethods(path);
        if (!allowed) {
          const meant = meantBy(path).find(findMethods);
          const hint = ADMIN_PATHS.has(path) ? ADMIN_HINT : meant && `Did you mean ${shownPath(meant)}?`;
          throw noSuchPath(path, hint ? { hint } : {});
        }
        const list = [...allowed].sort().join(', ');
        reply.header('allow', list);
        throw new IntersticeError(
          'METHOD_NOT_ALLOWED',
          `The path ${shownPath(path)} does not support ${request.method}.`,
          {
            hint: `Use ${list}.`,
          },
        );
      }
      // The pattern of the route, not the URL: escaped characters lead to the same route.
      if (!request.routeOptions.url?.startsWith(WORK_PREFIX)) return;
      state.refuseIfDraining(JOB_QUESTIONS.has(`${request.method} ${request.routeOptions.url}`));
      state.enter();
      const stop = state.whenOver(() => {
        if (request.raw.complete || reply.sent) return;
        // The rest of the body is read and dropped, so that its sender receives the refusal and not a reset.
        sendProblem(reply, request, drainingError(state.reason));
      });
      reply.raw.once('close', () => {
        stop();
        state.leave();
      });
    });
    // A client must not send its next request on a connection that is about to be closed. While its body is still
    // arriving, closing the connection would reset it before the client has read the answer.
    app.addHook('onSend', async (request, reply) => {
      if (state.phase === 'draining' && request.raw.complete) reply.header('connection', 'close');
    });
    // The hook has answered all but files of the reference that do not exist.
    app.setNotFoundHandler(({ url }) => {
      throw noSuchPath(url);
    });
  },
  { name: 'paths', dependencies: ['errors'] },
);

/** Paths that a caller may mean who has put a slash too many, or left out the version. */
function meantBy(path: string): readonly string[] {
  const plain = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  return [plain, `/v1${plain}`];
}

/** A regular expression for a route: `:id` matches one segment. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+';
    return segment === '*' ? '.*' : segment.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
