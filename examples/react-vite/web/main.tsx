import { AuthProvider } from '@svc/auth-client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { auth } from './auth';

createRoot(document.querySelector('main')!).render(
  <StrictMode>
    <AuthProvider auth={auth}>
      <App />
    </AuthProvider>
  </StrictMode>,
);
