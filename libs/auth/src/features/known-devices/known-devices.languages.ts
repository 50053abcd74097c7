import type { texts } from '../../kit';
import { KNOWN_DEVICE_MESSAGES } from './known-devices.texts';

export const knownDeviceLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof KNOWN_DEVICE_MESSAGES> & texts.WithMails<'newSignIn'>
> = {
  en: {
    messages: KNOWN_DEVICE_MESSAGES,
    mails: {
      newSignIn: {
        subject: 'New sign-in to your {appName} account',
        preheader: 'Was this you? If not, end all sessions with the link in this mail.',
        title: 'New sign-in',
        body: 'Your account at {appName} was used to sign in on a new device.\n\nIf this was not you, open the link. It ends all sessions, and you can choose a new password.',
        link: 'This was not me',
        note: 'If this was you, ignore this mail.',
      },
    },
  },
  de: {
    messages: {
      'auth.report_failed':
        'Dieser Link ist nicht mehr gültig. Wenn Sie die Anmeldung nicht kennen, setzen Sie Ihr Passwort zurück und beenden Sie alle Sitzungen.',
    },
    mails: {
      newSignIn: {
        subject: 'Neue Anmeldung bei {appName}',
        preheader: 'Waren Sie das? Wenn nicht, beenden Sie mit dem Link in dieser E-Mail alle Sitzungen.',
        title: 'Neue Anmeldung',
        body: 'Mit Ihrem Konto bei {appName} hat sich jemand auf einem neuen Gerät angemeldet.\n\nWenn Sie das nicht waren, öffnen Sie den Link. Er beendet alle Sitzungen, und Sie können ein neues Passwort wählen.',
        link: 'Das war ich nicht',
        note: 'Wenn Sie das waren, ignorieren Sie diese E-Mail.',
      },
    },
  },
  fr: {
    messages: {
      'auth.report_failed':
        'Ce lien n’est plus valable. Si vous ne reconnaissez pas cette connexion, réinitialisez votre mot de passe et fermez toutes les sessions.',
    },
    mails: {
      newSignIn: {
        subject: 'Nouvelle connexion à votre compte {appName}',
        preheader: 'Était-ce vous ? Sinon, mettez fin à toutes les sessions avec le lien de cet e-mail.',
        title: 'Nouvelle connexion',
        body: 'Une connexion à votre compte {appName} a eu lieu depuis un nouvel appareil.\n\nSi ce n’était pas vous, ouvrez le lien. Il met fin à toutes les sessions et vous permet de choisir un nouveau mot de passe.',
        link: 'Ce n’était pas moi',
        note: 'Si c’était vous, ignorez cet e-mail.',
      },
    },
  },
  es: {
    messages: {
      'auth.report_failed':
        'Este enlace ya no es válido. Si no reconoce este inicio de sesión, restablezca su contraseña y cierre todas las sesiones.',
    },
    mails: {
      newSignIn: {
        subject: 'Nuevo inicio de sesión en su cuenta de {appName}',
        preheader: '¿Ha sido usted? Si no, cierre todas las sesiones con el enlace de este mensaje.',
        title: 'Nuevo inicio de sesión',
        body: 'Se ha iniciado sesión en su cuenta de {appName} desde un dispositivo nuevo.\n\nSi no ha sido usted, abra el enlace. Con él se cierran todas las sesiones y puede elegir una contraseña nueva.',
        link: 'No he sido yo',
        note: 'Si ha sido usted, ignore este mensaje.',
      },
    },
  },
  pt: {
    messages: {
      'auth.report_failed':
        'Este link não é mais válido. Se você não reconhece este acesso, redefina sua senha e encerre todas as sessões.',
    },
    mails: {
      newSignIn: {
        subject: 'Novo acesso à sua conta em {appName}',
        preheader: 'Foi você? Se não, encerre todas as sessões com o link deste e-mail.',
        title: 'Novo acesso',
        body: 'Sua conta em {appName} foi acessada em um novo dispositivo.\n\nSe não foi você, abra o link. Ele encerra todas as sessões, e você pode escolher uma nova senha.',
        link: 'Não fui eu',
        note: 'Se foi você, ignore este e-mail.',
      },
    },
  },
  ja: {
    messages: {
      'auth.report_failed':
        'このリンクはもう有効ではありません。このログインに心当たりがない場合は、パスワードを再設定し、すべてのセッションを終了してください。',
    },
    mails: {
      newSignIn: {
        subject: '{appName} への新しいログイン',
        preheader: 'お心当たりがない場合は、このメールのリンクからすべてのセッションを終了してください。',
        title: '新しいログイン',
        body: '{appName} のアカウントに、新しいデバイスからログインがありました。\n\nお心当たりがない場合は、リンクを開いてください。すべてのセッションが終了し、新しいパスワードを設定できます。',
        link: '心当たりがありません',
        note: 'お客様ご自身によるログインの場合は、このメールを破棄してください。',
      },
    },
  },
};
