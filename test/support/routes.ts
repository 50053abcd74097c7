import type { TestApp } from './app';

interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
}

/** The library's mounted routes as `METHOD /path`, sorted. */
export const routesOf = (t: TestApp): string[] => {
  const { router } = t.app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } };
  return router.stack
    .flatMap(({ route }) =>
      route ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`) : [],
    )
    .filter((route) => route.includes('/auth/'))
    .toSorted();
};
