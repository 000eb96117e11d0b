import{c as o,i as s}from"./chunk-ONGEKQHI.js";var t=o(null);function i(){let e=s(t);if(!e)throw new Error("nobody is signed in");return e}export{t as a,i as b};
