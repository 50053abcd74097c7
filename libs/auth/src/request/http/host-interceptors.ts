import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { type Observable, defaultIfEmpty, defer, from, lastValueFrom, mergeMap, of } from 'rxjs';
import { Mounted } from '../../foundation/realm/feature';

type Intercept = NestInterceptor['intercept'];

const wrapped = new WeakSet<Intercept>();

/**
 * Lets no global interceptor of the host answer a route of the library in place of its handler: a cache that knows the path
 * of a request only answers one user with the sessions, the export or the tokens of another.
 *
 * An interceptor can still refuse the request, and can change what the handler has answered. It must be called before Nest
 * reads the interceptors, which it does when it mounts the routes.
 */
export function keepAnswersOfHandlers(application: ApplicationConfig): void {
  for (const interceptor of application.getGlobalInterceptors()) wrap(interceptor);
  // Nest makes one of these for each request. Their class is the place that is there already.
  for (const { metatype } of application.getGlobalRequestInterceptors())
    if (typeof metatype === 'function' && metatype.prototype) wrap(metatype.prototype as NestInterceptor);
}

function wrap(interceptor: NestInterceptor): void {
  const { intercept } = interceptor;
  if (typeof intercept !== 'function' || wrapped.has(intercept)) return;
  const keeping: Intercept = function (this: NestInterceptor, context, next) {
    const isOurs = Reflect.getMetadata(Mounted.KEY, context.getClass()) === true;
    if (!isOurs) return intercept.call(this, context, next);
    return isCache(this) ? next.handle() : answered(intercept.bind(this), context, next);
  };
  wrapped.add(keeping);
  interceptor.intercept = keeping;
}

/**
 * Whether it is Nest's `CacheInterceptor`, or a class of the host that extends it. It is left out, because it would keep the
 * answers of the library, which contain secrets.
 */
const isCache = (interceptor: NestInterceptor): boolean => 'trackBy' in interceptor;

/** The answer of the interceptor if the handler has answered before it, otherwise that of the handler, which runs once. */
async function answered(
  intercept: Intercept,
  context: ExecutionContext,
  next: CallHandler,
): Promise<Observable<unknown>> {
  let hasAnswered = false;
  let answer: Promise<unknown> | undefined;
  const handle = (): Promise<unknown> =>
    (answer ??= lastValueFrom(next.handle(), { defaultValue: undefined }).then((value: unknown) => {
      hasAnswered = true;
      return value;
    }));
  const given = await intercept(context, { handle: () => defer(handle) });
  return from(given).pipe(
    defaultIfEmpty(undefined),
    mergeMap((value) => (hasAnswered ? of(value) : defer(handle))),
  );
}
