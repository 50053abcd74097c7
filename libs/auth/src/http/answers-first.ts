import type { HttpServer } from '@nestjs/common';

/** Answers a failure, or returns false. */
type Answer = (error: unknown, request: object, response: object) => boolean;
type Next = (error: unknown) => void;
type Handler = (error: unknown, request: object, response: object) => unknown;

/**
 * Has `answer` look first at every failure before a handler of the application. What it leaves goes to the host. To be
 * called while modules are initialized. Other adapters than these, and a console, have no such thing.
 */
export function answersFirst(adapter: HttpServer | undefined, answer: Answer): void {
  const type = adapter?.getType();
  if (type === 'express') {
    // Express takes a handler of four parameters for errors.
    const handler = (error: unknown, request: object, response: object, next: Next): void => {
      if (!answer(error, request, response)) next(error);
    };
    adapter!.use(handler as never);
  }
  if (type === 'fastify') {
    // Fastify takes one handler for errors, and Nest sets it once all modules are initialized.
    const set = adapter!.setErrorHandler!.bind(adapter) as (handler: Handler, prefix?: string) => unknown;
    adapter!.setErrorHandler = (handler: Handler, prefix?: string) =>
      set(
        (error, request, response) =>
          answer(error, request, response) ? undefined : handler(error, request, response),
        prefix,
      );
  }
}
