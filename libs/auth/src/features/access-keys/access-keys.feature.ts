import { defineFeature } from '../../kit';

/** Access keys for scripts and services. Not in the list of `features.ts` before a route accepts a key: it adds nothing to an application. */
export const accessKeys = defineFeature('accessKeys', {});
