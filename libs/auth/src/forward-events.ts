import type { Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { createRequire } from 'node:module';
import type { AuthEvents, EventSink } from './kernel/auth-events';

/** Delivers events through `@nestjs/event-emitter` too, where the host has it. */
export function forwardEvents(events: AuthEvents, moduleRef: ModuleRef): void {
  const token = emitterToken();
  if (!token) return;
  try {
    events.forwardTo(moduleRef.get(token, { strict: false }));
  } catch {
    // Installed but not imported: the host listens through AuthEvents alone.
  }
}

function emitterToken(): Type<EventSink> | undefined {
  try {
    return createRequire(__filename)('@nestjs/event-emitter').EventEmitter2;
  } catch {
    return undefined;
  }
}
