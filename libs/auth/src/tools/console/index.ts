import './commander';
export type { OpenApplication, OpensApplication } from './application';
export { AuthConsoleModule } from './console.module';
