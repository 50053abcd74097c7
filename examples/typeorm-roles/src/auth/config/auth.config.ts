import { registerAs } from '@nestjs/config';

export default registerAs('auth', () => ({
  backendDomain: process.env.BACKEND_DOMAIN ?? 'http://localhost:3000',
  // The secret of the former refresh tokens. Without it they are not exchanged: users sign in once.
  formerRefreshSecret: process.env.AUTH_REFRESH_SECRET,
}));
