export { AuthConsoleModule } from './console.module';
