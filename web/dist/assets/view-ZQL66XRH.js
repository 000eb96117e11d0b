import{e as n}from"./chunk-AEMJEILJ.js";function o(){return n("h1",{children:"Account"})}export{o as View};
