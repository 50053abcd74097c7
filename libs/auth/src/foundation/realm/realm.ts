import { Injectable, type Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { GuardConfig } from '../config/auth-config';
import { AuthConfigError } from '../platform/errors';
import { MESSAGES, type Translate, fill } from '../platform/messages';

/** One guard's scope as its services see it: its name and its options. */
export class Realm {
  readonly guard: string;

  constructor(readonly options: GuardConfig) {
    this.guard = options.guard;
  }

  /** Whether tokens of this guard carry abilities at all. */
  get abilitiesInUse(): boolean {
    return this.options.features.abilities || this.options.hooks.abilities !== undefined;
  }

  /** Renders texts for the client of `request`, as the host wants them said. */
  translatorFor(request: unknown): Translate {
    const { messages } = this.options;
    if (typeof messages === 'function') return (key, params) => messages(key, params, request);
    return (key, params) => fill(messages[key] ?? MESSAGES[key], params);
  }
}

/** A realm as the rest of the application reaches it. */
export class RealmScope {
  private readonly services = new Map<unknown, unknown>();

  constructor(
    readonly realm: Realm,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** A service of this realm. Asked for on every guarded request, so each is looked up once. */
  get<T>(token: Type<T> | (abstract new (...args: never[]) => T)): T {
    const known = this.services.get(token) as T | undefined;
    if (known) return known;
    const service = this.moduleRef.get<T>(token as Type<T>, { strict: true });
    this.services.set(token, service);
    return service;
  }
}

/** Every realm of the module, by guard name. Each one enters itself when the application starts. */
@Injectable()
export class Realms {
  /** The default guard's. */
  default!: RealmScope;
  private readonly byGuard = new Map<string, RealmScope>();

  add(scope: RealmScope): void {
    this.byGuard.set(scope.realm.guard, scope);
    if (scope.realm.options.isDefault) this.default = scope;
  }

  /** The realm of a guard, or undefined where none is named. @throws AuthConfigError as {@link get} does */
  named(guard: string | undefined): RealmScope | undefined {
    return guard === undefined ? undefined : this.get(guard);
  }

  get all(): RealmScope[] {
    return [...this.byGuard.values()];
  }

  /** @throws AuthConfigError for a guard that was never declared */
  get(guard: string): RealmScope {
    const scope = this.byGuard.get(guard);
    if (scope) return scope;
    throw new AuthConfigError(
      `There is no guard "${guard}". Declared: ${[...this.byGuard.keys()].join(', ')}. Add it to AuthModule's guards.`,
    );
  }
}
