import { Injectable, type Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { GuardConfig } from '../config/auth-config';
import { AuthConfigError } from '../platform/errors';
import { type StatedTexts, Texts } from '../languages/texts';
import { acceptedLanguage } from '../platform/language';
import { type Translator, fill } from '../platform/messages';
import type { Feature, HookPoints } from './feature';
import type { GuardServices } from './feature-data';
import { type UserSource, sourceOf } from './user-source';

declare module './feature' {
  interface Feature extends StatedTexts {}
}

/** Provides the name, the options and the texts of one guard to its services. */
export class Realm {
  readonly guard: string;

  /** @param source the source of the guard's users, with every guard that has them */
  constructor(
    readonly options: GuardConfig,
    readonly source: UserSource = sourceOf([options]),
    readonly texts = new Texts(),
  ) {
    this.guard = options.guard;
  }

  /** Whether tokens of this guard contain abilities. */
  get abilitiesInUse(): boolean {
    return this.options.features.abilities || this.options.hooks.abilities !== undefined;
  }

  /**
   * Returns the function that renders texts for the client of `request`: in a language of the option `languages`, with the
   * texts of the option `messages`.
   */
  translatorFor(request: unknown): Translator {
    const { messages, languages } = this.options;
    const isNegotiated = languages.length > 1;
    const language = acceptedLanguage(isNegotiated ? acceptLanguageOf(request) : undefined, languages);
    const translate: Translator = (key, params, english) => {
      const text = this.texts.message(language, key, english);
      const { field } = params;
      // The name of the field is in the language of the text.
      const named = typeof field === 'string' ? { ...params, field: this.texts.field(language, field) } : params;
      if (typeof messages === 'function') return messages(key, params, request, fill(text, named));
      // A text of the host for this language, one for every language, or the text of the library.
      return fill(messages[language]?.[key] ?? messages[key] ?? text, named);
    };
    return languages.length ? Object.assign(translate, { language, isNegotiated }) : translate;
  }
}

const acceptLanguageOf = (request: unknown): unknown =>
  (request as { headers?: Readonly<Record<string, unknown>> } | null | undefined)?.headers?.['accept-language'];

/** Gives the rest of the application access to the services of a realm. */
export class RealmScope implements GuardServices {
  private readonly services = new Map<unknown, unknown>();

  /** @param features those that are on at the guard */
  constructor(
    readonly realm: Realm,
    private readonly moduleRef: ModuleRef,
    private readonly features: readonly Feature[] = [],
  ) {}

  /** What the features of the guard do at a point, in their order. A function that several of them name runs once. */
  hooks<Point extends keyof HookPoints>(point: Point): NonNullable<HookPoints[Point]>[] {
    return [...new Set(this.features.flatMap(({ on }) => on?.[point] ?? []))];
  }

  /** Whether a feature is on at the guard. */
  isOn(feature: Feature): boolean {
    return this.features.includes(feature);
  }

  /** A service of this realm. Services are cached, because every guarded request reads them. */
  get<T>(token: Type<T> | (abstract new (...args: never[]) => T)): T {
    const cached = this.services.get(token) as T | undefined;
    if (cached) return cached;
    const service = this.moduleRef.get<T>(token as Type<T>, { strict: true });
    this.services.set(token, service);
    return service;
  }

  /** An instance of a class that is no provider, such as a controller, with services of this realm. Instances are cached. */
  async create<T>(type: Type<T>): Promise<T> {
    const created = (this.services.get(type) as T | undefined) ?? (await this.moduleRef.create<T>(type));
    this.services.set(type, created);
    return created;
  }

  /** Whether the realm has this service: it has not where its feature is off. */
  has(token: unknown): boolean {
    try {
      return Boolean(this.get(token as Type));
    } catch (error) {
      if ((error as Error).constructor.name === 'UnknownElementException') return false;
      throw error;
    }
  }
}

/** Holds all realms of the module by guard name. Each realm adds itself when the application starts. */
@Injectable()
export class Realms {
  /** The realm of the default guard. */
  default!: RealmScope;
  private readonly byGuard = new Map<string, RealmScope>();

  add(scope: RealmScope): void {
    this.byGuard.set(scope.realm.guard, scope);
    if (scope.realm.options.isDefault) this.default = scope;
  }

  /** The realm of a guard; undefined without a guard name. @throws AuthConfigError as {@link get} does */
  named(guard: string | undefined): RealmScope | undefined {
    return guard === undefined ? undefined : this.get(guard);
  }

  get all(): RealmScope[] {
    return [...this.byGuard.values()];
  }

  /** The realm of a guard. @throws AuthConfigError for a guard that is not declared */
  get(guard: string): RealmScope {
    const scope = this.byGuard.get(guard);
    if (scope) return scope;
    throw new AuthConfigError(
      `There is no guard "${guard}". Declared: ${[...this.byGuard.keys()].join(', ')}. Add it to AuthModule's guards.`,
    );
  }
}
