import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

/** Whether the tests run on Fastify instead of Express. Set by `TEST_ADAPTER`. */
export const onFastify = process.env.TEST_ADAPTER === 'fastify';

interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
}

export interface AdapterOptions {
  /** Whether the application reads client addresses from `X-Forwarded-For`. */
  behindProxy?: boolean;
  fastify?: boolean;
  /** The maximum length of a path parameter on Fastify; undefined for the default of Fastify. */
  maxParamLength?: number | undefined;
}

const fastifyRoutes = new WeakMap<object, string[]>();

/** The maximum length of a path parameter that Fastify accepts in tests. */
export const MAX_PARAM_LENGTH = 2048;

function fastifyAdapter(behindProxy: boolean, maxParamLength?: number): AbstractHttpAdapter {
  const adapter = new FastifyAdapter({
    trustProxy: behindProxy,
    ...(maxParamLength !== undefined && { routerOptions: { maxParamLength } }),
  });
  const routes: string[] = [];
  fastifyRoutes.set(adapter, routes);
  adapter.getInstance().addHook('onRoute', ({ method, url }) => {
    // Fastify registers a HEAD route for each GET route.
    if (method !== 'HEAD' || !routes.includes(`GET ${url}`)) routes.push(`${String(method)} ${url}`);
  });
  return adapter;
}

/** A new adapter of the kind that the tests run on. */
export function httpAdapter(options: AdapterOptions = {}): AbstractHttpAdapter {
  const { behindProxy = false, fastify = onFastify, maxParamLength } = { maxParamLength: MAX_PARAM_LENGTH, ...options };
  if (fastify) return fastifyAdapter(behindProxy, maxParamLength);
  const adapter = new ExpressAdapter();
  if (behindProxy) adapter.set('trust proxy', true);
  return adapter as unknown as AbstractHttpAdapter;
}

/** Starts a host application without `TestApp`. */
export async function startHost(module: Type | DynamicModule, options: AdapterOptions = {}): Promise<INestApplication> {
  const app = await NestFactory.create(module, httpAdapter(options), { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  return app;
}

/** Every route of an application's router, as `METHOD /path`. */
export function routesOfRouter(adapter: AbstractHttpAdapter): string[] {
  const ofFastify = fastifyRoutes.get(adapter);
  if (ofFastify) return ofFastify;
  const { router } = adapter.getInstance() as { router: { stack: Layer[] } };
  // Middleware of a path is a route of all methods.
  const isMiddleware = (methods: Record<string, boolean>): boolean => 'trace' in methods;
  return router.stack.flatMap(({ route }) =>
    route && !isMiddleware(route.methods)
      ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`)
      : [],
  );
}
