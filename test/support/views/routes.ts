import type { AbstractHttpAdapter } from '@nestjs/core';
import { routesOfRouter } from '../hosts/adapter';
import type { TestApp } from '../hosts/app';

/** The mounted routes of the library as `METHOD /path`, sorted. */
export const routesOf = (t: TestApp): string[] =>
  routesOfRouter(t.app.getHttpAdapter() as AbstractHttpAdapter)
    .filter((route) => route.includes('/auth/'))
    .toSorted();
