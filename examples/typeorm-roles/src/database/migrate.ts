import { AppDataSource } from './data-source.js';

async function migrate() {
  await AppDataSource.initialize();
  await AppDataSource.runMigrations();
  await AppDataSource.destroy();
}
void migrate();
