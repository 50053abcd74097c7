import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: 'src/schema.ts',
  out: 'drizzle',
  dbCredentials: { url: process.env.DATABASE_URL ?? '' },
  // The library creates and changes its own tables. `drizzle-kit push` leaves them alone.
  tablesFilter: ['!svc_*'],
});
