import type { texts } from '../../kit';

export const accountLanguages: texts.InEachLanguage<texts.WithMails<'accountDeleted'>> = {
  en: {
    mails: {
      accountDeleted: {
        subject: 'Your {appName} account was deleted',
        preheader: 'Was this not you? Contact support at once.',
        title: 'Your account was deleted',
        body: 'Your account at {appName} was deleted.',
        note: 'If this was not you, please contact support at once.',
      },
    },
  },
  de: {
    mails: {
      accountDeleted: {
        subject: 'Ihr Konto bei {appName} wurde gelöscht',
        preheader: 'Das waren nicht Sie? Wenden Sie sich sofort an den Support.',
        title: 'Ihr Konto wurde gelöscht',
        body: 'Ihr Konto bei {appName} wurde gelöscht.',
        note: 'Wenn Sie das nicht waren, wenden Sie sich bitte sofort an den Support.',
      },
    },
  },
  fr: {
    mails: {
      accountDeleted: {
        subject: 'Votre compte {appName} a été supprimé',
        preheader: 'Ce n’était pas vous ? Contactez immédiatement l’assistance.',
        title: 'Votre compte a été supprimé',
        body: 'Votre compte {appName} a été supprimé.',
        note: 'Si vous n’êtes pas à l’origine de cette action, veuillez contacter immédiatement l’assistance.',
      },
    },
  },
  es: {
    mails: {
      accountDeleted: {
        subject: 'Se ha eliminado su cuenta de {appName}',
        preheader: '¿No ha sido usted? Póngase en contacto de inmediato con el servicio de asistencia.',
        title: 'Se ha eliminado su cuenta',
        body: 'Se ha eliminado su cuenta de {appName}.',
        note: 'Si no ha sido usted, póngase en contacto de inmediato con el servicio de asistencia.',
      },
    },
  },
  pt: {
    mails: {
      accountDeleted: {
        subject: 'Sua conta em {appName} foi excluída',
        preheader: 'Não foi você? Entre em contato imediatamente com o suporte.',
        title: 'Sua conta foi excluída',
        body: 'Sua conta em {appName} foi excluída.',
        note: 'Se não foi você, entre em contato imediatamente com o suporte.',
      },
    },
  },
  ja: {
    mails: {
      accountDeleted: {
        subject: '{appName} のアカウントが削除されました',
        preheader: 'お心当たりがない場合は、すぐにサポートまでお問い合わせください。',
        title: 'アカウントが削除されました',
        body: '{appName} のアカウントが削除されました。',
        note: 'お心当たりがない場合は、すぐにサポートまでお問い合わせください。',
      },
    },
  },
};
