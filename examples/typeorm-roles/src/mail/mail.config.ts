import { registerAs } from '@nestjs/config';

export default registerAs('mail', () => ({
  host: process.env.MAIL_HOST ?? 'localhost',
  port: Number(process.env.MAIL_PORT ?? 1025),
  defaultEmail: process.env.MAIL_DEFAULT_EMAIL ?? 'noreply@example.com',
  frontendDomain: process.env.FRONTEND_DOMAIN ?? 'http://localhost:5173',
}));
