/** The part of better-auth 1.7 that the benchmark uses. It is installed only for the benchmark, not for type checks. */
declare module 'better-auth' {
  interface SecondaryStorage {
    get(key: string): Promise<string | null>;
    set(key: string, value: string, ttl?: number): Promise<unknown>;
    delete(key: string): Promise<unknown>;
  }

  interface Options {
    database: object;
    secret: string;
    baseURL: string;
    emailAndPassword: { enabled: boolean };
    session?: { cookieCache?: { enabled: boolean; maxAge?: number } };
    secondaryStorage?: SecondaryStorage;
  }

  interface BetterAuth {
    options: Options;
    api: {
      getSession(of: { headers: Headers }): Promise<{ user: { id: string } } | null>;
      signUpEmail(of: { body: { name: string; email: string; password: string }; asResponse: true }): Promise<Response>;
    };
  }

  function betterAuth(options: Options): BetterAuth;
}

declare module 'better-auth/node' {
  function fromNodeHeaders(headers: NodeJS.Dict<string | string[]>): Headers;
}

declare module 'better-auth/db/migration' {
  import type { Options } from 'better-auth';

  function getMigrations(options: Options): Promise<{ runMigrations(): Promise<void> }>;
}
