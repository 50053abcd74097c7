import type { InEachLanguage, WithMails, WithMessages } from '../../foundation/languages/catalogue';
import { LOGIN_MESSAGES } from './login.texts';

export const loginLanguages: InEachLanguage<WithMessages<keyof typeof LOGIN_MESSAGES> & WithMails<'passwordChanged'>> =
  {
    en: {
      messages: LOGIN_MESSAGES,
      mails: {
        passwordChanged: {
          subject: 'Your {appName} password was changed',
          title: 'Your password was changed',
          body: 'The password of your account at {appName} was changed.',
        },
      },
    },
    de: {
      messages: {
        'auth.wrong_credentials': 'Diese Zugangsdaten sind nicht korrekt.',
      },
      mails: {
        passwordChanged: {
          subject: 'Ihr Passwort bei {appName} wurde geändert',
          title: 'Ihr Passwort wurde geändert',
          body: 'Das Passwort Ihres Kontos bei {appName} wurde geändert.',
        },
      },
    },
    fr: {
      messages: {
        'auth.wrong_credentials': 'Ces identifiants sont incorrects.',
      },
      mails: {
        passwordChanged: {
          subject: 'Votre mot de passe {appName} a été modifié',
          title: 'Votre mot de passe a été modifié',
          body: 'Le mot de passe de votre compte {appName} a été modifié.',
        },
      },
    },
    es: {
      messages: {
        'auth.wrong_credentials': 'Estas credenciales no son correctas.',
      },
      mails: {
        passwordChanged: {
          subject: 'Se ha cambiado su contraseña de {appName}',
          title: 'Se ha cambiado su contraseña',
          body: 'Se ha cambiado la contraseña de su cuenta de {appName}.',
        },
      },
    },
    pt: {
      messages: {
        'auth.wrong_credentials': 'Estas credenciais não estão corretas.',
      },
      mails: {
        passwordChanged: {
          subject: 'Sua senha em {appName} foi alterada',
          title: 'Sua senha foi alterada',
          body: 'A senha da sua conta em {appName} foi alterada.',
        },
      },
    },
    ja: {
      messages: {
        'auth.wrong_credentials': 'ログイン情報が正しくありません。',
      },
      mails: {
        passwordChanged: {
          subject: '{appName} のパスワードが変更されました',
          title: 'パスワードが変更されました',
          body: '{appName} のアカウントのパスワードが変更されました。',
        },
      },
    },
  };
