import type { AuthAsyncValues } from '@svc/auth';

/** What `ours, cached` adds to the options: users that a process remembers. Without any, it is not measured. */
export const CACHED: Partial<AuthAsyncValues> = {};
