/**
 * The commands of the library as a part of the command line of an application, with `nest-commander`.
 *
 * ```ts
 * import { AuthConsoleModule } from '@svc/auth/console';
 * ```
 *
 * @module @svc/auth/console
 */

import './commander';
export type { OpenApplication, OpensApplication } from './application';
export { AuthConsoleModule } from './console.module';
