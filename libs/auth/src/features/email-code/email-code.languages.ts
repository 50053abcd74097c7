import type { texts } from '../../kit';
import { EMAIL_CODE_MESSAGES } from './email-code.texts';

export const emailCodeLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof EMAIL_CODE_MESSAGES> & texts.WithMails<'signInCode'>
> = {
  en: {
    messages: EMAIL_CODE_MESSAGES,
    mails: {
      signInCode: {
        subject: 'Your {appName} sign-in code',
        preheader: 'Enter the code in this mail where you sign in.',
        title: 'Your sign-in code',
        body: 'Enter this code to sign in to {appName}.',
        link: 'Sign in',
        note: 'Do not give this code to anyone. If you did not try to sign in, ignore this mail.',
      },
    },
  },
  de: {
    messages: { 'auth.wrong_email_code': 'Dieser Code ist nicht korrekt oder nicht mehr gültig.' },
    mails: {
      signInCode: {
        subject: 'Ihr Anmeldecode für {appName}',
        preheader: 'Geben Sie den Code aus dieser E-Mail bei der Anmeldung ein.',
        title: 'Ihr Anmeldecode',
        body: 'Geben Sie diesen Code ein, um sich bei {appName} anzumelden.',
        link: 'Anmelden',
        note: 'Geben Sie diesen Code nicht weiter. Wenn Sie sich nicht anmelden wollten, ignorieren Sie diese E-Mail.',
      },
    },
  },
  fr: {
    messages: { 'auth.wrong_email_code': 'Ce code est incorrect ou n’est plus valable.' },
    mails: {
      signInCode: {
        subject: 'Votre code de connexion {appName}',
        preheader: 'Saisissez le code de cet e-mail pour vous connecter.',
        title: 'Votre code de connexion',
        body: 'Saisissez ce code pour vous connecter à {appName}.',
        link: 'Se connecter',
        note: 'Ne communiquez ce code à personne. Si vous n’avez pas essayé de vous connecter, ignorez cet e-mail.',
      },
    },
  },
  es: {
    messages: { 'auth.wrong_email_code': 'Este código no es correcto o ya no es válido.' },
    mails: {
      signInCode: {
        subject: 'Su código de inicio de sesión de {appName}',
        preheader: 'Introduzca el código de este mensaje para iniciar sesión.',
        title: 'Su código de inicio de sesión',
        body: 'Introduzca este código para iniciar sesión en {appName}.',
        link: 'Iniciar sesión',
        note: 'No comparta este código con nadie. Si no ha intentado iniciar sesión, ignore este mensaje.',
      },
    },
  },
  pt: {
    messages: { 'auth.wrong_email_code': 'Este código não está correto ou não é mais válido.' },
    mails: {
      signInCode: {
        subject: 'Seu código de acesso a {appName}',
        preheader: 'Digite o código deste e-mail para entrar.',
        title: 'Seu código de acesso',
        body: 'Digite este código para entrar em {appName}.',
        link: 'Entrar',
        note: 'Não compartilhe este código com ninguém. Se você não tentou entrar, ignore este e-mail.',
      },
    },
  },
  ja: {
    messages: { 'auth.wrong_email_code': 'コードが正しくないか、有効期限が切れています。' },
    mails: {
      signInCode: {
        subject: '{appName} のログインコード',
        preheader: 'ログイン画面に、このメールのコードを入力してください。',
        title: 'ログインコード',
        body: '{appName} にログインするには、このコードを入力してください。',
        link: 'ログイン',
        note: 'このコードを他の人に教えないでください。お心当たりがない場合は、このメールを破棄してください。',
      },
    },
  },
};
