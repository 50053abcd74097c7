import type { Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { AuthEvents, EventSink } from './kernel/auth-events';
import { optionalPeer } from './kernel/optional-peer';

/** Delivers events through `@nestjs/event-emitter` too, where the host has it. */
export function forwardEvents(events: AuthEvents, moduleRef: ModuleRef): void {
  const token = optionalPeer<{ EventEmitter2: Type<EventSink> }>('@nestjs/event-emitter')?.EventEmitter2;
  if (!token) return;
  try {
    events.forwardTo(moduleRef.get(token, { strict: false }));
  } catch {
    // Installed but not imported: the host listens through AuthEvents alone.
  }
}
