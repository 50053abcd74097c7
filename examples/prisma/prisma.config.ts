import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
  // The library creates and changes its own tables. `prisma migrate` leaves them alone.
  experimental: { externalTables: true },
  tables: {
    external: [
      'public.svc_sessions',
      'public.svc_lockouts',
      'public.svc_passkeys',
      'public.svc_password_resets',
      'public.svc_email_changes',
      'public.svc_device_keys',
      'public.svc_known_devices',
      'public.svc_trusted_devices',
      'public.svc_email_deliveries',
      'public.svc_identities',
      'public.svc_access_keys',
      'public.svc_suspensions',
      'public.svc_audit',
      'public.svc_audit_keys',
      'public.svc_security_events',
      'public.svc_migrations',
    ],
  },
});
