import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Pruning } from '@svc/auth';

/** Prunes once, as `svc:prune` does, and reports the deleted rows to the parent process. */
export async function prune(module: DynamicModule): Promise<void> {
  process.once('disconnect', () => process.exit());
  const app = await NestFactory.createApplicationContext(module, { logger: ['error', 'warn'] });
  const start = performance.now();
  const pruned = await app.get(Pruning, { strict: false }).run();
  process.send?.({ ...pruned, seconds: (performance.now() - start) / 1000 });
  process.disconnect();
}
